//! What the user configured, typed. Hooks never ask.

use std::fmt;

/// How long things are kept, by class; nothing set keeps everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Whole conversations, by their last activity; microseconds.
    pub conversations_us: Option<i64>,
    /// Raw hook payloads, by their receipt; microseconds. What was made of them stays.
    pub raw_us: Option<i64>,
}

/// The settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub retention: Retention,
    /// Keys that mean nothing here, as the user should be told.
    pub unknown: Vec<String>,
}

/// Settings that cannot be used; the text says where and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

/// Where settings come from.
pub trait SettingsSource {
    /// The settings as they are now; defaults where there are none.
    ///
    /// # Errors
    /// When they cannot be read, or a known key has a value that it cannot have.
    fn settings(&self) -> Result<Settings, SettingsError>;
}
