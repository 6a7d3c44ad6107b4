//! TAP version 14: the plan first, a line a case, a YAML block under a failure, a trailer.
//!
//! Strings in the block are double-quoted YAML with every character outside ASCII escaped, so
//! that no reader has to guess what a subject answered. Reference: testanything.org, version 14.

use std::io::{self, Write};

use super::{Head, Reporter, Summary};
use crate::conformance::outcome::{CaseResult, PlanLine, Status};

/// Writes TAP.
pub struct Tap<W> {
    out: W,
    head: Option<Head>,
    number: usize,
}

impl<W: Write> Tap<W> {
    /// A reporter onto `out`.
    pub fn new(out: W) -> Self {
        Self { out, head: None, number: 0 }
    }

    fn block(&mut self, result: &CaseResult) -> io::Result<()> {
        let mode = self.head.as_ref().map_or("", |head| head.name()).to_owned();
        let repro = self.head.as_ref().map(|head| head.repro(result)).unwrap_or_default();
        let status = if result.status == Status::Timeout { "timeout" } else { "red" };
        writeln!(self.out, "  ---")?;
        for (name, value) in [
            ("status", status),
            ("subject", &result.subject),
            ("mode", &mode),
            ("clause", &result.clause),
            ("repro", &repro),
        ] {
            writeln!(self.out, "  {name}: {}", quoted(value))?;
        }
        if !result.failures.is_empty() {
            writeln!(self.out, "  failures:")?;
        }
        for failure in &result.failures {
            writeln!(self.out, "    - site: {}", quoted(&failure.site))?;
            writeln!(self.out, "      expected: {}", quoted(&failure.expected))?;
            writeln!(self.out, "      got: {}", quoted(&failure.got))?;
        }
        writeln!(self.out, "  ...")
    }
}

impl<W: Write> Reporter for Tap<W> {
    fn plan(&mut self, head: &Head, plan: &[PlanLine]) -> io::Result<()> {
        self.head = Some(head.clone());
        writeln!(self.out, "TAP version 14\n1..{}", plan.len())
    }

    fn result(&mut self, result: &CaseResult) -> io::Result<()> {
        self.number += 1;
        let word = match result.status {
            Status::Ok | Status::Skip(_) => "ok",
            Status::Red | Status::Timeout => "not ok",
        };
        let name = escaped(&format!("{} {}", result.id, result.title));
        write!(self.out, "{word} {} - {name}", self.number)?;
        match &result.status {
            Status::Skip(reason) => writeln!(self.out, " # SKIP {}", escaped(reason)),
            Status::Ok => writeln!(self.out),
            Status::Red | Status::Timeout => {
                writeln!(self.out)?;
                self.block(result)
            }
        }
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let counts = summary.counts;
        let (name, seed) = self.head.as_ref().map_or(("", 0), |head| (head.name(), head.seed));
        writeln!(self.out, "# mode {name}, fired {}", summary.fired)?;
        writeln!(
            self.out,
            "# ok {}, red {}, skip {}, timeout {}",
            counts.ok, counts.red, counts.skip, counts.timeout
        )?;
        writeln!(self.out, "# checks {} of {}", counts.checks_made, counts.checks_expected)?;
        writeln!(self.out, "# seed {seed}")?;
        self.out.flush()
    }
}

/// A description in which no `#` begins a directive, on one line.
fn escaped(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    one_line.replace('\\', "\\\\").replace('#', "\\#")
}

/// A double-quoted YAML string in ASCII.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            ' '..='~' => quoted.push(c),
            _ => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use crate::conformance::options::Format;
    use crate::conformance::report::samples::told;

    #[test]
    fn the_version_and_the_plan_come_before_every_result() {
        let text = told(Format::Tap);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], ["TAP version 14", "1..4", "ok 1 - A-1 holds"]);
    }

    #[test]
    fn a_hash_or_a_backslash_in_a_title_is_no_directive() {
        assert!(told(Format::Tap).contains("not ok 2 - A-2 is \\#1 \\\\ of 2\n"));
    }

    #[test]
    fn a_failure_has_a_block_and_the_end_has_the_counts() {
        let block = concat!(
            "  ---\n  status: \"red\"\n  subject: \"builtin:keys\"\n  mode: \"idn_lowercases\"\n",
            "  clause: \"the clause\"\n",
            "  repro: \"fornax conformance --subject builtin:keys --case A-2 ",
            "--mode idn_lowercases --seed 7\"\n",
            "  failures:\n    - site: \"A-2/one\"\n      expected: \"\\\"x\\\"\"\n",
            "      got: \"a\\U00000085b\\U0000000A...\"\n  ...\n",
        );
        let text = told(Format::Tap);
        assert!(text.contains(block), "{text}");
        let trailer = "# mode idn_lowercases, fired 3\n# ok 1, red 1, skip 1, timeout 1\n\
                       # checks 0 of 0\n# seed 7\n";
        assert!(text.ends_with(trailer), "{text}");
    }

    #[test]
    fn a_skip_is_marked_and_a_timeout_is_not_ok() {
        let text = told(Format::Tap);
        assert!(text.contains("ok 3 - A-3 waits # SKIP no \\#clock\n"));
        assert!(text.contains("not ok 4 - A-4 hangs\n  ---\n  status: \"timeout\"\n"));
    }
}
