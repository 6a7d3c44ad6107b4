//! `fornax conformance` from the built binary: the control, each mode, the sweep, the codes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use assert_cmd::Command;
use fornax::conformance::registry::suite;
use serde_json::Value;

fn conformance(args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_fornax"))
        .arg("conformance")
        .args(args)
        .env("HOME", home.path())
        .env("FORNAX_HOME", home.path().join("fornax"))
        .output()
        .unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn listed(what: &str) -> Vec<Value> {
    let output = conformance(&["--list", what, "--json"]);
    assert_eq!(code(&output), 0, "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn words(value: &Value) -> BTreeSet<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_control_is_green_on_the_shipping_parts() {
    let output = conformance(&[]);
    let text = stdout(&output);
    assert_eq!(code(&output), 0, "{text}");
    assert!(text.starts_with("TAP version 14\n1..215\nok 1 - IDN-01 "), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("not ok")), "{text}");
    assert_eq!(text.matches("\nok ").count(), 215);
    for (contract, floor) in [
        ("IDN", 13),
        ("NAT", 81),
        ("DEC", 38),
        ("TAL", 20),
        ("EXT", 14),
        ("RBK", 15),
        ("USG", 16),
        ("RUN", 18),
    ] {
        let cases = text.lines().filter(|line| line.contains(&format!(" - {contract}-"))).count();
        assert_eq!(cases, floor, "{contract}");
    }
    assert!(text.contains("# ok 213, red 0, skip 2, timeout 0\n# checks 314 of 316\n# seed 0\n"));
}

/// The red ids of a run under the mode, and its exit code.
fn reds_under(mode: &str) -> (i32, BTreeSet<String>) {
    let output = conformance(&["--mode", mode]);
    let text = stdout(&output);
    let red = text.lines().filter_map(|line| line.strip_prefix("not ok "));
    let ids = red.map(|line| line.split(' ').nth(2).unwrap().to_owned()).collect();
    (code(&output), ids)
}

/// The first mode of each contract; the self-test below judges them all in the same way.
#[test]
fn a_mode_exits_one_and_reddens_its_own_cases_only() {
    let mut modes = listed("modes");
    assert_eq!(modes.len(), 144);
    modes.dedup_by_key(|mode| mode["must"][0].as_str().unwrap()[..3].to_owned());
    assert_eq!(modes.len(), suite().contracts.len());
    let next = AtomicUsize::new(0);
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(mode) = modes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (code, red) = reds_under(mode["name"].as_str().unwrap());
                    let (must, may) = (words(&mode["must"]), words(&mode["may"]));
                    let allowed: BTreeSet<_> = must.union(&may).cloned().collect();
                    if code != 1 || !must.is_subset(&red) || !red.is_subset(&allowed) {
                        faults.lock().unwrap().push(format!("{mode}: exit {code}, red {red:?}"));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_self_test_passes_and_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = conformance(&["--self-test", "--out", out.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let plan: Vec<Value> = serde_json::from_str(&read("plan.json")).unwrap();
    assert_eq!(plan.len(), 1 + 144 + 145 + 4);
    assert_eq!(read("results.jsonl").lines().count(), plan.len() + 2);
    assert!(read("modes/none.tap").contains("# ok 213, red 0"));
    assert!(read("modes/idn_lowercases.tap").contains("not ok 6 - IDN-06 letter case"));
    assert_eq!(read("teeth.json"), fornax::conformance::registry::TEETH);
    assert!(read("coverage.md").contains("| IDN-06 | idn_lowercases |"));
}

#[test]
fn a_dropped_site_reddens_the_ledger_of_its_case() {
    for (case, site, text) in [
        ("IDN-07", "IDN-07/blank-is-refused", "ledger: expected 2, ran 1"),
        ("EXT-04", "EXT-04/come-back-unchanged", "ledger: expected 1, ran 0"),
        ("RUN-10", "RUN-10/a-copied-row-refuses", "ledger: expected 2, ran 1"),
    ] {
        let output = conformance(&["--case", case, "--drop-site", site]);
        let printed = stdout(&output);
        assert_eq!(code(&output), 1, "{printed}");
        assert!(printed.contains(&format!("not ok 1 - {case} ")), "{printed}");
        assert!(printed.contains(&format!("got: \"{text}\"")), "{printed}");
    }
}

#[test]
fn unknown_names_exit_64_with_the_nearest_known_one() {
    for (args, near) in [
        (&["--mode", "idn_lowercase"][..], "idn_lowercases"),
        (&["--case", "IDN-1"][..], "IDN-01"),
        (&["--contract", "EXTT"][..], "EXT"),
        (&["--subject", "builtin:key"][..], "builtin:keys"),
        (&["--format", "tpa"][..], "tap"),
        (&["--list", "case"][..], "cases"),
        (&["--explain", "ext_unbound"][..], "ext_unbounded"),
        (&["--drop-site", "IDN-7/blank-is-refused"][..], "IDN-07/blank-is-refused"),
        (&["--drop-site", "IDN-07/blank"][..], "IDN-07/blank-is-refused"),
        (&["--self-test", "--case", "IDN-01"][..], "--self-test takes the whole suite"),
        (&["--contract", "IDN", "--case", "EXT-01"][..], "no case is left"),
        (&["--coverage", "--self-test"][..], "one of"),
    ] {
        let output = conformance(args);
        assert_eq!(code(&output), 64, "{args:?}: {}", stdout(&output));
        assert!(stderr(&output).contains(near), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_mode_that_touches_nothing_of_the_selection_is_a_meta_failure() {
    let output = conformance(&["--mode", "idn_lowercases", "--contract", "EXT"]);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
}

#[test]
fn a_deadline_that_passes_is_a_timeout_and_never_a_red() {
    let output = conformance(&["--self-test", "--timeout-ms", "1"]);
    assert_eq!(code(&output), 3, "{}", stdout(&output));
    assert!(stdout(&output).contains("# ok 0, red 0, skip 293, timeout 1\n"));
    let slow = conformance(&["--case", "RUN-02", "--timeout-ms", "1"]);
    assert_eq!(code(&slow), 3, "{}", stdout(&slow));
    assert!(stdout(&slow).contains("status: \"timeout\""));
}

#[test]
fn json_lines_name_the_plan_first_and_the_summary_last() {
    let output = conformance(&["--json", "--contract", "IDN", "--seed", "9"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["event"], &events[0]["seed"]), (&"plan".into(), &9.into()));
    assert_eq!(events[0]["lines"].as_array().unwrap().len(), 13);
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["counts"]["ok"]), (&"summary".into(), &13.into()));
}

#[test]
fn every_subject_is_listed_with_its_claims_and_its_floor_of_cases() {
    let subjects = listed("subjects");
    let shown: Vec<_> = subjects
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["cases"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            ("builtin:keys", 11),
            ("builtin:envelope", 12),
            ("builtin:codex-rollout", 51),
            ("builtin:readback", 15),
            ("builtin:usage", 16),
            ("builtin:claude-hook", 27),
            ("builtin:codex-hook", 2),
            ("builtin:opencode", 27),
            ("builtin:claude-transcript", 16),
            ("builtin:tail", 20),
            ("builtin:runner", 18),
        ]
    );
    assert_eq!(listed("claims")[0]["claims"][0], "key_codec");
}

/// The rows of the document's table that follows a heading, as trimmed cells.
fn table(document: &str, heading: &str) -> Vec<Vec<String>> {
    let after = document.split_once(heading).unwrap().1;
    after
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_document_lists_the_cases_modes_and_waivers_of_the_registry() {
    let (suite, document) = (suite(), document());
    let cases: Vec<_> = suite
        .cases()
        .map(|(_, case)| vec![case.id.to_owned(), case.title.to_owned(), case.clause.to_owned()])
        .collect();
    assert_eq!(table(&document, "\n## Cases\n"), cases);
    let modes: Vec<_> = suite
        .breaks()
        .map(|mode| {
            let may = mode.may.join(", ");
            let must = mode.must.join(", ");
            let reds = if may.is_empty() { must } else { format!("{must} (may: {may})") };
            vec![format!("`{}`", mode.name), reds, mode.defect.to_owned()]
        })
        .collect();
    assert_eq!(table(&document, "\n## Break modes\n"), modes);
    let waivers: Vec<_> =
        suite.waivers.iter().map(|w| vec![w.case.to_owned(), w.reason.to_owned()]).collect();
    assert_eq!(table(&document, "\n## Waivers\n"), waivers);
}

/// RUN-18, which a binary cannot ask of itself.
#[test]
fn nothing_that_ships_depends_on_the_conformance_module() {
    fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for part in ["base", "domain", "ports", "app", "adapters"] {
        let mut files = Vec::new();
        sources(&root.join(part), &mut files);
        assert!(!files.is_empty(), "{part}");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains("conformance::"), "{}", file.display());
        }
    }
}
