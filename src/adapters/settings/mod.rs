//! `$FORNAX_HOME/config.toml`: known keys become typed settings, unknown ones are named.

use crate::base::when::length;
use crate::ports::settings::{Retention, Settings, SettingsError, SettingsSource};
use std::io;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The file of one home.
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    /// The file of `home`; it need not exist.
    pub fn of(home: &Path) -> Self {
        Self { path: home.join("config.toml") }
    }

    fn error(&self, why: impl std::fmt::Display) -> SettingsError {
        SettingsError(format!("{}: {why}", self.path.display()))
    }
}

impl SettingsSource for SettingsFile {
    fn settings(&self) -> Result<Settings, SettingsError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Settings::default()),
            Err(e) => return Err(self.error(e)),
        };
        parse(&text).map_err(|why| self.error(why))
    }
}

fn parse(text: &str) -> Result<Settings, String> {
    let table: Table = text.parse().map_err(|e: toml::de::Error| {
        let line =
            e.span().map_or(0, |span| text.get(..span.start).unwrap_or_default().lines().count());
        format!("line {}: {}", line.max(1), e.message())
    })?;
    let mut settings = Settings::default();
    for (name, value) in &table {
        match (name.as_str(), value) {
            ("retention", Value::Table(classes)) => {
                retention(classes, &mut settings.retention, &mut settings.unknown)?;
            }
            ("retention", _) => return Err("retention is a table: [retention]".to_owned()),
            _ => settings.unknown.push(name.clone()),
        }
    }
    Ok(settings)
}

fn retention(
    classes: &Table,
    into: &mut Retention,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    for (class, value) in classes {
        let key = format!("retention.{class}");
        let slot = match class.as_str() {
            "conversations" => &mut into.conversations_us,
            "raw" => &mut into.raw_us,
            _ => {
                unknown.push(key);
                continue;
            }
        };
        // A span of nothing would remove everything by a slip of the hand.
        let span = value.as_str().and_then(length).filter(|span| *span > 0);
        *slot = Some(span.ok_or_else(|| format!("{key} is a span such as \"30d\" or \"52w\""))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    #[test]
    fn known_keys_are_read_and_unknown_ones_named() {
        let text =
            "colour = 1\n[retention]\nconversations = \"365d\"\nraw = \"1w\"\nfluff = \"2d\"\n";
        let settings = parse(text).unwrap();
        let retention = Retention { conversations_us: Some(365 * DAY), raw_us: Some(7 * DAY) };
        assert_eq!(settings.retention, retention);
        assert_eq!(settings.unknown, ["colour", "retention.fluff"]);
    }

    #[test]
    fn a_value_that_a_key_cannot_have_is_refused_and_named() {
        for (text, why) in [
            ("[retention]\nraw = 30", "retention.raw"),
            ("[retention]\nraw = \"0d\"", "retention.raw"),
            ("[retention]\nconversations = \"a while\"", "retention.conversations"),
            ("retention = \"30d\"", "[retention]"),
            ("\n[retention\n", "line 2"),
        ] {
            let refused = parse(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }

    #[test]
    fn no_file_keeps_everything() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(SettingsFile::of(home.path()).settings(), Ok(Settings::default()));
    }
}
