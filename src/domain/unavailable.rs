//! Why a text cannot be read back from its source.
//!
//! Each reason is a word that other programs may rely on, and a line that says what to do. Whatever
//! cannot be proven to be the bytes that were read is unavailable; nothing is guessed.

crate::open_tag! {
    /// The reasons; a reader of this build gives none but the named ones.
    pub enum Unavailable {
        /// The bytes at the place are not those that were read.
        LineChanged = "line_changed",
        /// The line is the same; what stands around it in the part that was read is not.
        PrefixChanged = "prefix_changed",
        /// No file is at the path.
        SourceMissing = "source_missing",
        /// No file is at the path, and it was so old that its agent deletes such files.
        SourcePruned = "source_pruned",
        /// The file may not be read.
        PermissionDenied = "permission_denied",
        /// Another file is at the path, or the locator is not one of this source's own.
        IdentityMismatch = "identity_mismatch",
        /// No decoder of this build reads such a record, or there is no file to read (hooks).
        FormatUnsupported = "format_unsupported",
        /// The path selects nothing in the record, or one part of it is not there.
        SelectorMissing = "selector_missing",
    }
}

impl Unavailable {
    /// What the reason means and what to do about it, in one line.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::LineChanged => {
                "the line was changed after it was read; `fornax ingest` reads the file again"
            }
            Self::PrefixChanged => {
                "the file was changed around the line after it was read; `fornax ingest` reads it again"
            }
            Self::SourceMissing => {
                "the file is not there; bring it back, else what the store keeps is all there is"
            }
            Self::SourcePruned => {
                "its agent deletes files as old as this one was; what the store keeps is all there is"
            }
            Self::PermissionDenied => "the file may not be read; change its permissions",
            Self::IdentityMismatch => {
                "the locator is not one of the file that was read; `fornax ingest`, then take a locator from `fornax show --json`"
            }
            Self::FormatUnsupported => {
                "no decoder reads this back; a hook delivery has no file, and what the store keeps is all there is"
            }
            Self::SelectorMissing => {
                "the path names no text of the record; `fornax show --json` prints paths that do"
            }
            Self::Other(_) => "the reason is not known here",
        }
    }
}
