//! The exit codes, each with its meaning; `docs/exit-codes.md` lists the same table.

use std::fmt;

/// Every exit code that fornax uses (conformance adds its own, see its document).
pub const TABLE: &[(u8, &str)] = &[
    (0, "done"),
    (1, "the answer is no: contradicted, red, or something that should have been read was not"),
    (64, "usage: the command line is wrong"),
    (65, "bad data: what was named is not something fornax reads"),
    (69, "unavailable, or nothing to judge"),
    (70, "internal error"),
    (74, "input or output failed"),
    (75, "locked: try again"),
    (76, "the store is newer than this program"),
];

/// A failure with its exit code. The message says what to do.
#[derive(Debug)]
pub struct Exit {
    pub code: u8,
    pub message: String,
}

impl Exit {
    /// The answer is no.
    pub fn no(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }

    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: 64, message: message.into() }
    }

    /// What was named cannot be read.
    pub fn bad_data(message: impl Into<String>) -> Self {
        Self { code: 65, message: message.into() }
    }

    /// Nothing to work on.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self { code: 69, message: message.into() }
    }

    /// Input or output failed.
    pub fn io(message: impl Into<String>) -> Self {
        Self { code: 74, message: message.into() }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Exit {}

/// The exit code of an error chain.
pub fn code_of(error: &anyhow::Error) -> u8 {
    use crate::app::drain::DrainError;
    use crate::app::follow::FollowError;
    use crate::app::lookup::LookupError;
    use crate::ports::recorder::StoreError;
    let of_store = |e: &StoreError| match e {
        StoreError::Busy => 75,
        StoreError::Newer { .. } => 76,
        StoreError::NotAStore(_) => 65,
        StoreError::Missing => 69,
        StoreError::Io(_) => 74,
        StoreError::OtherNamespace { .. } => 64,
        StoreError::Other(_) => 70,
    };
    for cause in error.chain() {
        if let Some(exit) = cause.downcast_ref::<Exit>() {
            return exit.code;
        }
        if let Some(store) = cause.downcast_ref::<StoreError>() {
            return of_store(store);
        }
        if let Some(DrainError::Store(store)) = cause.downcast_ref::<DrainError>() {
            return of_store(store);
        }
        match cause.downcast_ref::<FollowError>() {
            Some(FollowError::Store(store)) => return of_store(store),
            Some(FollowError::Io { .. }) => return 74,
            Some(FollowError::NotRecognised(_)) => return 65,
            None => {}
        }
        match cause.downcast_ref::<LookupError>() {
            Some(LookupError::Store(store)) => return of_store(store),
            Some(LookupError::Unknown(_) | LookupError::NoneHere { .. }) => return 69,
            Some(LookupError::Ambiguous { .. }) => return 64,
            None => {}
        }
        if cause.is::<std::io::Error>() || cause.is::<DrainError>() {
            return 74;
        }
    }
    70
}

/// True when output went to a reader that is gone, which is no error.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::recorder::StoreError;

    #[test]
    fn each_store_error_has_its_code_and_every_code_is_in_the_table() {
        let cases = [
            (StoreError::Busy, 75),
            (StoreError::Newer { found: 2, supported: 1 }, 76),
            (StoreError::NotAStore(String::new()), 65),
            (StoreError::Missing, 69),
            (StoreError::Io(String::new()), 74),
            (StoreError::Other(String::new()), 70),
        ];
        for (error, code) in cases {
            let chain = anyhow::Error::new(error).context("while testing");
            assert_eq!(code_of(&chain), code);
            assert!(TABLE.iter().any(|(c, _)| *c == code));
        }
    }
}
