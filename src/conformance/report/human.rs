//! For a terminal: what failed, in full, and one line of counts for each contract.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Head, Reporter, Summary};
use crate::base::text::one_line;
use crate::conformance::options::exit;
use crate::conformance::outcome::{CaseResult, PlanLine, Status};

/// Writes text.
pub struct Human<W> {
    out: W,
    head: Option<Head>,
    groups: BTreeMap<String, (usize, usize)>,
}

impl<W: Write> Human<W> {
    /// A reporter onto `out`.
    pub fn new(out: W) -> Self {
        Self { out, head: None, groups: BTreeMap::new() }
    }
}

/// The contract of a case, or the kind of a step.
fn group_of(id: &str) -> &str {
    id.split(['-', '/']).next().unwrap_or(id)
}

impl<W: Write> Reporter for Human<W> {
    fn plan(&mut self, head: &Head, plan: &[PlanLine]) -> io::Result<()> {
        self.head = Some(head.clone());
        let what = if head.is_self_test { "steps" } else { "cases" };
        writeln!(self.out, "{}: {} {what}", head.name(), plan.len())?;
        self.out.flush()
    }

    fn result(&mut self, result: &CaseResult) -> io::Result<()> {
        let group = self.groups.entry(group_of(&result.id).to_owned()).or_default();
        group.1 += 1;
        let word = match &result.status {
            Status::Ok => {
                group.0 += 1;
                return Ok(());
            }
            Status::Skip(reason) => {
                return writeln!(self.out, "skip     {}: {}", result.id, one_line(reason));
            }
            Status::Red => "red",
            Status::Timeout => "timeout",
        };
        let subject = match result.subject.as_str() {
            "" => String::new(),
            subject => format!(" ({subject})"),
        };
        writeln!(self.out, "{word:<8} {} {}{subject}", result.id, one_line(&result.title))?;
        for failure in &result.failures {
            writeln!(self.out, "         {}", failure.site)?;
            writeln!(self.out, "           expected  {}", one_line(&failure.expected))?;
            writeln!(self.out, "           got       {}", one_line(&failure.got))?;
        }
        match &self.head {
            Some(head) => writeln!(self.out, "         again: {}", head.repro(result)),
            None => Ok(()),
        }
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        for (group, (ok, all)) in &self.groups {
            writeln!(self.out, "{group:<9}{ok} of {all} ok")?;
        }
        let counts = summary.counts;
        let verdict = match summary.exit {
            exit::OK => "green",
            exit::RED => "red",
            exit::META => "the suite itself is at fault",
            exit::TIMEOUT => "out of time",
            exit::BASELINE => "the control is not green",
            _ => "failed",
        };
        let seed = self.head.as_ref().map_or(0, |head| head.seed);
        writeln!(
            self.out,
            "{verdict}: {} ok, {} red, {} skipped, {} timed out; {} of {} checks; seed {seed}",
            counts.ok,
            counts.red,
            counts.skip,
            counts.timeout,
            counts.checks_made,
            counts.checks_expected,
        )?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use crate::conformance::options::Format;
    use crate::conformance::report::samples::told;

    #[test]
    fn only_what_is_not_green_is_told_in_full() {
        let text = told(Format::Human);
        assert!(text.starts_with("idn_lowercases: 4 cases\nred      A-2 is #1"), "{text}");
        assert!(!text.contains("holds"));
        assert!(text.contains("skip     A-3: no #clock"));
        assert!(text.contains("timeout  A-4 hangs (builtin:keys)"));
        assert!(text.contains("A        1 of 4 ok"), "{text}");
        assert!(text.contains("red: 1 ok, 1 red, 1 skipped, 1 timed out"));
    }

    #[test]
    fn what_a_subject_answered_cannot_steer_the_terminal() {
        assert!(told(Format::Human).chars().all(|c| c == '\n' || !c.is_control()));
    }
}
