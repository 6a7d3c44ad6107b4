//! One JSON object an event: `plan`, then `case` (or `skip`), then `summary`.
//!
//! This is what a child process of the self-test prints; `read` takes it back. A text without
//! its summary is no report: the child that wrote it did not get to its end.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::{Head, Reporter, Summary};
use crate::conformance::outcome::{CaseResult, Counts, PlanLine, RunReport, Status};

/// Version of these lines.
pub const SCHEMA: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Plan { schema: u32, mode: String, seed: u64, self_test: bool, lines: Vec<PlanLine> },
    Case(CaseResult),
    Skip(CaseResult),
    Summary { counts: Counts, fired: u64, exit: i32 },
}

/// Writes JSON lines.
pub struct Jsonl<W> {
    out: W,
}

impl<W: Write> Jsonl<W> {
    /// A reporter onto `out`.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        writeln!(self.out, "{}", serde_json::to_string(event)?)?;
        self.out.flush()
    }
}

impl<W: Write> Reporter for Jsonl<W> {
    fn plan(&mut self, head: &Head, plan: &[PlanLine]) -> io::Result<()> {
        self.event(&Event::Plan {
            schema: SCHEMA,
            mode: head.mode.clone(),
            seed: head.seed,
            self_test: head.is_self_test,
            lines: plan.to_vec(),
        })
    }

    fn result(&mut self, result: &CaseResult) -> io::Result<()> {
        let result = result.clone();
        self.event(&match result.status {
            Status::Skip(_) => Event::Skip(result),
            _ => Event::Case(result),
        })
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let Summary { counts, fired, exit } = *summary;
        self.event(&Event::Summary { counts, fired, exit })
    }
}

/// The report that these lines tell; none when they are not complete or not ours.
pub fn read(text: &str) -> Option<RunReport> {
    let mut events = text.lines().map(serde_json::from_str::<Event>);
    let mut report = RunReport::default();
    let Some(Ok(Event::Plan { schema: SCHEMA, lines, .. })) = events.next() else {
        return None;
    };
    report.plan = lines;
    loop {
        match events.next()?.ok()? {
            Event::Plan { .. } => return None,
            Event::Case(result) | Event::Skip(result) => report.results.push(result),
            Event::Summary { fired, .. } => {
                report.fired = fired;
                return events.next().is_none().then_some(report);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::options::Format;
    use crate::conformance::report::samples::{run, told};

    #[test]
    fn what_is_written_reads_back() {
        let report = read(&told(Format::Jsonl)).unwrap();
        assert_eq!(report.results, run().1);
        assert_eq!(report.fired, 3);
        assert!(report.follows_plan());
    }

    #[test]
    fn a_report_that_stops_early_is_none() {
        let text = told(Format::Jsonl);
        let lines: Vec<&str> = text.lines().collect();
        for kept in 0..lines.len() {
            assert_eq!(read(&lines[..kept].join("\n")), None, "{kept} lines");
        }
    }

    #[test]
    fn another_schema_or_more_lines_is_none() {
        let text = told(Format::Jsonl);
        assert_eq!(read(&text.replacen("\"schema\":1", "\"schema\":2", 1)), None);
        assert_eq!(read(&format!("{text}{text}")), None);
        assert_eq!(read(&format!("hello\n{text}")), None);
    }
}
