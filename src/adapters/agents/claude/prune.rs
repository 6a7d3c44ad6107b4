//! Claude Code deletes transcripts when it starts: those that did not change for
//! `cleanupPeriodDays`, 30 unless its settings say otherwise.

use crate::ports::agent::PruneRule;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const DAYS: u64 = 30;

/// A rule for each folder of transcripts.
pub(super) fn rules(
    folders: Vec<PathBuf>,
    read: &dyn Fn(&Path) -> io::Result<String>,
) -> Vec<PruneRule> {
    let rule = |folder: PathBuf| {
        let settings = folder.parent()?.join("settings.json");
        let days = match read(&settings) {
            Ok(text) => days(&text)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => DAYS,
            Err(_) => return None,
        };
        let after = DAY.saturating_mul(u32::try_from(days).ok()?);
        Some(PruneRule { folder, after })
    };
    folders.into_iter().filter_map(rule).collect()
}

/// What settings say. With settings that it cannot use Claude Code deletes nothing.
fn days(settings: &str) -> Option<u64> {
    let settings: Value = serde_json::from_str(settings).ok()?;
    match settings.get("cleanupPeriodDays") {
        None => Some(DAYS),
        Some(days) => days.as_u64().filter(|days| *days > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(settings: io::Result<&str>) -> Option<Duration> {
        let told = settings.map(str::to_owned).map_err(|e| e.kind());
        let read = |path: &Path| {
            assert_eq!(path, Path::new("/c/settings.json"));
            told.clone().map_err(io::Error::from)
        };
        rules(vec!["/c/projects".into()], &read).pop().map(|rule| rule.after)
    }

    #[test]
    fn thirty_days_unless_the_settings_say_otherwise() {
        assert_eq!(after(Err(io::ErrorKind::NotFound.into())), Some(DAY * 30));
        assert_eq!(after(Ok("{\"model\":\"x\"}")), Some(DAY * 30));
        assert_eq!(after(Ok("{\"cleanupPeriodDays\":7}")), Some(DAY * 7));
    }

    #[test]
    fn with_settings_that_cannot_be_used_nothing_is_deleted() {
        for settings in ["{", "{\"cleanupPeriodDays\":0}", "{\"cleanupPeriodDays\":\"7\"}"] {
            assert_eq!(after(Ok(settings)), None, "{settings}");
        }
        assert_eq!(after(Err(io::ErrorKind::PermissionDenied.into())), None);
    }
}
