//! placeholder
pub(super) fn run(
    _: &crate::cli::args::ConformanceArgs,
    _: bool,
    _: &crate::cli::parts::Parts,
) -> anyhow::Result<u8> {
    Ok(0)
}
