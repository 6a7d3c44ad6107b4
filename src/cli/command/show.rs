//! placeholder
pub(super) fn run(
    _: &crate::cli::args::ShowArgs,
    _: &crate::cli::parts::Parts,
    _: &mut crate::cli::ui::Ui,
) -> anyhow::Result<u8> {
    Ok(0)
}
