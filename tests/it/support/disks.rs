//! Disks that are small, or that nobody may write: tmpfs where the tests may mount, else permissions.

use super::is_root;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A disk of its own at a folder; it goes with the value, which must go before the `TestEnv`.
#[must_use]
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// A disk of so many KiB at `path`, which is made; `None`, and why on stderr, where tests may
    /// not mount.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) fn of_size(path: &Path, kib: u32) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let size = format!("size={kib}k,mode=0700");
        if !is_root() || !mount(&["-t", "tmpfs", "-o", &size, "none"], path) {
            eprintln!("skipped: a disk of its own needs the right to mount");
            return None;
        }
        Some(Self(path.to_owned()))
    }

    /// Fills what is free, with a file of this name.
    pub(crate) fn fill(&self, name: &str) {
        let path = self.0.join(name);
        let full = fs::write(&path, vec![0; 64 * 1024 * 1024]);
        assert!(full.is_err(), "{} is no small disk", self.0.display());
    }

    /// From now on nothing can be written on it.
    pub(crate) fn freeze(&self) {
        assert!(mount(&["-o", "remount,ro", "none"], &self.0));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: what still has a file open there is none of the next test's business.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(args: &[&str], path: &Path) -> bool {
    let ran = Command::new("mount").args(args).arg(path).output();
    ran.is_ok_and(|output| output.status.success())
}

/// Gives a folder and all in it to no writer. False for root, whom no permission stops.
pub(crate) fn forbid_writing(folder: &Path) -> bool {
    if is_root() {
        return false;
    }
    for entry in fs::read_dir(folder).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o400)).unwrap();
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
    true
}

/// Undoes [`forbid_writing`], so that the folder can be removed.
pub(crate) fn allow_writing(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
}
