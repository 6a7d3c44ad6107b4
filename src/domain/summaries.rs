//! What a test runner says of its own run, read from bounded output.
//!
//! Only lines of a runner's own shape count, anchored at their beginning, so that prose and source
//! code do not match. A summary corroborates or doubts an exit status; it never replaces one.

/// Counts a runner printed; absent = not printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    pub passed: Option<u64>,
    pub failed: Option<u64>,
}

/// Lines looked at, from the end.
const LINES_MAX: usize = 400;

impl Summary {
    fn add(&mut self, passed: Option<u64>, failed: Option<u64>) {
        let sum = |held: Option<u64>, more: Option<u64>| match (held, more) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.passed = sum(self.passed, passed);
        self.failed = sum(self.failed, failed);
    }
}

/// The summary in `output`, or `None` when no runner's line is there.
pub fn read(output: &str) -> Option<Summary> {
    let mut lines: Vec<&str> = output.lines().rev().take(LINES_MAX).collect();
    lines.reverse();
    let mut total = Summary::default();
    let mut found = false;
    let mut go = Summary::default();
    for line in lines {
        let line = line.trim();
        let read = cargo(line)
            .or_else(|| nextest(line))
            .or_else(|| pytest(line))
            .or_else(|| jest(line))
            .or_else(|| tap(line))
            .or_else(|| mocha(line))
            .or_else(|| rspec(line))
            .or_else(|| junit(line));
        if let Some((passed, failed)) = read {
            total.add(passed, failed);
            found = true;
        } else if let Some(failed) = go_line(line) {
            go.add(Some(u64::from(!failed)), Some(u64::from(failed)));
        }
    }
    if found {
        return Some(total);
    }
    // Go prints packages, not tests: only whether any failed is told.
    (go != Summary::default()).then_some(Summary { passed: None, failed: go.failed })
}

type Counts = (Option<u64>, Option<u64>);

/// `test result: FAILED. 3 passed; 1 failed; ...`
fn cargo(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?;
    Some((before_word(rest, "passed"), before_word(rest, "failed")))
}

/// `Summary [   0.1s] 12 tests run: 11 passed, 1 failed, 0 skipped`
fn nextest(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("Summary [")?.split_once("run:")?.1;
    Some((before_word(rest, "passed"), Some(before_word(rest, "failed").unwrap_or(0))))
}

/// `=== 3 failed, 12 passed in 0.10s ===`, also without the rulers under `-q`.
fn pytest(line: &str) -> Option<Counts> {
    let bare = line.trim_matches('=').trim();
    let (counts, time) = bare.rsplit_once(" in ")?;
    let timed = time.chars().next().is_some_and(|c| c.is_ascii_digit()) && time.contains('s');
    let begins = counts.chars().next().is_some_and(|c| c.is_ascii_digit());
    let passed = before_word(counts, "passed");
    let failed = before_word(counts, "failed");
    let errors = before_word(counts, "error").or_else(|| before_word(counts, "errors"));
    if !timed || !begins || (passed.is_none() && failed.is_none() && errors.is_none()) {
        return None;
    }
    Some((passed, Some(failed.unwrap_or(0).saturating_add(errors.unwrap_or(0)))))
}

/// `Tests: 2 failed, 10 passed, 12 total` (jest), `Tests  10 passed (10)` (vitest).
fn jest(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("Tests:").or_else(|| line.strip_prefix("Tests  "))?;
    let passed = before_word(rest, "passed");
    let failed = before_word(rest, "failed");
    (passed.is_some() || failed.is_some()).then_some((passed, Some(failed.unwrap_or(0))))
}

/// `# pass 3`, `# fail 1` (TAP, `node --test`).
fn tap(line: &str) -> Option<Counts> {
    let number = |word: &str| {
        let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("\u{2139} "))?;
        rest.strip_prefix(word)?.trim().parse().ok()
    };
    if let Some(passed) = number("pass ") {
        return Some((Some(passed), None));
    }
    number("fail ").map(|failed| (None, Some(failed)))
}

/// `12 passing (3s)`, `1 failing`.
fn mocha(line: &str) -> Option<Counts> {
    let (count, rest) = line.split_once(' ')?;
    let count: u64 = count.parse().ok()?;
    match rest.split_whitespace().next()? {
        "passing" if rest == "passing" || rest.starts_with("passing (") => {
            Some((Some(count), None))
        }
        "failing" if rest == "failing" => Some((None, Some(count))),
        _ => None,
    }
}

/// `5 examples, 1 failure`
fn rspec(line: &str) -> Option<Counts> {
    let (examples, rest) = line.split_once(" example")?;
    let examples: u64 = examples.parse().ok()?;
    let failed = before_word(rest, "failure").or_else(|| before_word(rest, "failures"))?;
    Some((examples.checked_sub(failed), Some(failed)))
}

/// `Tests run: 5, Failures: 1, Errors: 0` (Surefire, JUnit text).
fn junit(line: &str) -> Option<Counts> {
    let at = line.find("Tests run: ")?;
    // Surefire repeats the line a class; the closing one has no class and no time.
    if line.contains("Time elapsed") {
        return None;
    }
    let rest = line.get(at..)?;
    let number = |name: &str| {
        let after = rest.split_once(name)?.1;
        after.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u64>().ok()
    };
    let run = number("Tests run: ")?;
    let failed = number("Failures: ")?.saturating_add(number("Errors: ").unwrap_or(0));
    Some((run.checked_sub(failed), Some(failed)))
}

/// `ok`, a tab, a package: passed; `FAIL` and a tab, or `--- FAIL:`: failed.
fn go_line(line: &str) -> Option<bool> {
    if line.starts_with("ok  \t") {
        return Some(false);
    }
    (line.starts_with("FAIL\t") || line.starts_with("--- FAIL: ")).then_some(true)
}

/// The number that stands before a word, as in `3 failed`.
fn before_word(text: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> = text.split([' ', ',', ';', '|']).filter(|w| !w.is_empty()).collect();
    words
        .windows(2)
        .find(|pair| pair.get(1) == Some(&word))
        .and_then(|pair| pair.first()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64) -> Option<Summary> {
        Some(Summary { passed: Some(passed), failed: Some(failed) })
    }

    #[test]
    fn each_runners_own_lines_are_read() {
        let cases = [
            ("test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured", counts(3, 1)),
            (
                "test result: ok. 2 passed; 0 failed;\ntest result: ok. 5 passed; 0 failed;",
                counts(7, 0),
            ),
            ("     Summary [   0.10s] 12 tests run: 11 passed, 1 failed, 0 skipped", counts(11, 1)),
            ("===== 3 failed, 12 passed in 0.10s =====", counts(12, 3)),
            ("12 passed in 0.10s", counts(12, 0)),
            ("== 1 passed, 2 errors in 1.20s ==", counts(1, 2)),
            ("Tests:       2 failed, 10 passed, 12 total", counts(10, 2)),
            ("      Tests  10 passed (10)", counts(10, 0)),
            ("# tests 4\n# pass 3\n# fail 1", counts(3, 1)),
            ("  12 passing (3s)\n  1 failing", counts(12, 1)),
            ("5 examples, 1 failure", counts(4, 1)),
            ("Tests run: 5, Failures: 1, Errors: 1, Skipped: 0", counts(3, 2)),
        ];
        for (output, expected) in cases {
            assert_eq!(read(output), expected, "{output}");
        }
    }

    #[test]
    fn go_tells_only_whether_a_package_failed() {
        assert_eq!(
            read("ok  \tpkg/a\t0.1s\nFAIL\tpkg/b\t0.2s"),
            Some(Summary { passed: None, failed: Some(1) })
        );
    }

    #[test]
    fn prose_and_source_code_are_no_summary() {
        for text in [
            "all 12 tests passed",
            "let text = \"test result: ok. 3 passed; 0 failed\";",
            "I saw 3 failed, 12 passed earlier",
            "The tests: 2 failed",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
