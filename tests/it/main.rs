//! One integration binary: a module per subject, each driving the built program or its source.
//!
//! Tests are hermetic: every one has its own home, agents' homes and runtime folder, and a cleared
//! environment. What a test runs, it must also judge (`support::Ran` is `must_use`).

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking; the configuration frees only the test functions themselves"
)]

mod architecture;
mod claude;
mod cli;
mod conformance;
mod continued;
mod crash;
#[cfg(feature = "crash-points")]
mod crash_points;
mod damage;
mod export;
mod faults;
mod forget;
mod forks;
mod growth;
mod hook;
mod import;
mod ingest;
mod losses;
mod messages;
mod model;
mod opencode;
mod order;
mod read;
mod redaction;
mod search;
mod sessions;
mod show;
mod status;
mod store;
mod streams;
mod stress;
mod support;
mod tail;
mod threads;
mod upgrade;
mod usage;
mod usage_check;

/// A file that is not listed above would never run.
#[test]
fn every_file_here_is_a_module_of_this_binary() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let listed: Vec<&str> = include_str!("main.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let mut found = 0;
    for entry in std::fs::read_dir(here).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let subject = name.strip_suffix(".rs").unwrap_or(&name);
        if subject == "main" || subject == "snapshots" {
            continue;
        }
        found += 1;
        assert!(listed.contains(&subject), "tests/it/{name} is not listed in main.rs");
    }
    assert_eq!(found, listed.len(), "main.rs lists a module twice or one that is not there");
}
