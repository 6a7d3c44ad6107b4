//! A stream in any split: each payload at once, bad lines alone, to the end.

use super::*;
use crate::base::time::Micros;
use crate::domain::capability::RuntimeCapabilities;
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId};
use crate::domain::outcome::{Message, NormalizationOutcome};
use crate::domain::provider::Provider;
use crate::ports::agent::{CapabilityProbe, Homes, HookInput, SourceFormat, SourceSample};
use crate::ports::clock::Clock;
use crate::ports::journal::JournalWriter;
use proptest::prelude::*;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Counts what it has seen, and panics when told to.
struct Counting(u64);

impl CapabilityProbe for Counting {
    fn probe(&self) -> RuntimeCapabilities {
        RuntimeCapabilities::declare(Provider::Unknown, "1", &[])
    }
}

impl AgentAdapter for Counting {
    fn provider(&self) -> Provider {
        Provider::from_tag("acme")
    }

    fn adapter_version(&self) -> &'static str {
        "1"
    }

    fn normalize(&mut self, _hint: &str, native: &Value) -> NormalizationOutcome {
        assert!(native.get("panic").is_none(), "as asked");
        self.0 += 1;
        let native = NativeId::call(native["n"].to_string());
        let mut event = EventDraft::new("s", EventKind::PreToolUse, native, Channel::Hook);
        event.turn_id = Some(self.0.to_string());
        NormalizationOutcome::Messages(vec![Message::Event(event)])
    }
}

struct Acme;

impl AgentFamily for Acme {
    fn provider(&self) -> Provider {
        Provider::from_tag("acme")
    }
    fn command_word(&self) -> &'static str {
        "acme"
    }
    fn hook_adapter(&self) -> Box<dyn AgentAdapter> {
        Box::new(Counting(0))
    }
    fn hook_input(&self) -> HookInput {
        HookInput::Stream
    }
    fn file_adapter(&self, _format: &str) -> Option<Box<dyn AgentAdapter>> {
        None
    }
    fn recognise(&self, _sample: &SourceSample<'_>) -> Option<SourceFormat> {
        None
    }
    fn known_sidecar(&self, _path: &Path) -> Option<&'static str> {
        None
    }
    fn roots(&self, _homes: &Homes<'_>) -> Vec<PathBuf> {
        Vec::new()
    }
}

struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Micros {
        Micros(1_000)
    }
}

#[derive(Default)]
struct Kept {
    bodies: RefCell<Vec<Delivery>>,
    /// Appends that fail before the first that does not.
    refuse: Cell<u32>,
}

impl JournalWriter for Kept {
    fn append(&self, body: &[u8]) -> io::Result<()> {
        if self.refuse.get() > 0 {
            self.refuse.set(self.refuse.get() - 1);
            return Err(io::Error::other("full"));
        }
        self.bodies.borrow_mut().push(serde_json::from_slice(body).unwrap());
        Ok(())
    }
}

/// Hands bytes out in pieces of one size.
struct Pieces<'a>(&'a [u8], usize);

impl PayloadInput for Pieces<'_> {
    fn read(&mut self, buf: &mut [u8], _wait: Duration) -> io::Result<Step> {
        let (now, later) = self.0.split_at(self.1.min(self.0.len()));
        self.0 = later;
        buf[..now.len()].copy_from_slice(now);
        Ok(if now.is_empty() { Step::End } else { Step::Bytes(now.len()) })
    }
}

fn run_into(kept: &Kept, bytes: &[u8], piece: usize) -> io::Result<()> {
    let hook = Hook {
        family: Some(&Acme),
        clock: &StoppedClock,
        journal: kept,
        started: Instant::now(),
        waiting_bytes: &|| 0,
    };
    hook.run_stream(&mut Pieces(bytes, piece))
}

/// `n` of an event, or the reason of a loss, a word a delivery.
fn told(bytes: &[u8], piece: usize) -> Vec<String> {
    let kept = Kept::default();
    run_into(&kept, bytes, piece).unwrap();
    let bodies = kept.bodies.into_inner();
    bodies.iter().flat_map(|d| &d.messages).map(word).collect()
}

fn word(message: &Message) -> String {
    match message {
        Message::Event(event) => event.native.id.clone(),
        Message::Loss(loss) => format!("{} x{}", loss.reason, loss.count),
        other => format!("{other:?}"),
    }
}

#[test]
fn every_line_is_a_delivery_of_its_own_with_a_time_of_its_own() {
    let kept = Kept::default();
    run_into(&kept, b"{\"n\":1}\n{\"n\":2}\r\n\n  \n{\"n\":3}", 4).unwrap();
    let bodies = kept.bodies.into_inner();
    let times: Vec<i64> = bodies.iter().map(|d| d.at_us).collect();
    assert_eq!(times, [1_000, 1_001, 1_002]);
    assert!(bodies.iter().all(|d| d.provider == "acme"));
}

#[test]
fn one_adapter_sees_the_whole_stream() {
    let kept = Kept::default();
    run_into(&kept, b"{\"n\":7}\n{\"n\":8}\n", 64).unwrap();
    let bodies = kept.bodies.into_inner();
    let Message::Event(second) = &bodies[1].messages[0] else { panic!("no event") };
    assert_eq!(second.turn_id.as_deref(), Some("2"));
}

#[test]
fn a_bad_line_costs_itself_and_not_the_next() {
    let cases: [(&[u8], &[&str]); 6] = [
        (b"prose {\"n\":0}\n{\"n\":1}\n", &["hook_payload_invalid x1", "1"]),
        (b"{\"n\":\n{\"n\":1}\n", &["hook_payload_invalid x1", "1"]),
        (b"{\"n\":\"a\n{\"n\":1}\n", &["hook_payload_invalid x1", "1"]),
        (b"\xff\xfe\n{\"n\":1}\n", &["hook_payload_invalid x1", "1"]),
        (b"{\"n\":1}{\"n\":2} x\n{\"n\":3}\n", &["1", "2", "hook_payload_invalid x1", "3"]),
        (b"{\"n\":1}\n{\"n\":2", &["1", "hook_payload_invalid x1"]),
    ];
    for (bytes, expected) in cases {
        for piece in [1, 3, 1_000] {
            assert_eq!(told(bytes, piece), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}

#[test]
fn a_payload_that_breaks_the_adapter_is_a_loss_and_the_stream_goes_on() {
    let bytes = b"{\"n\":1}\n{\"panic\":1}\n{\"n\":2}\n";
    assert_eq!(told(bytes, 64), ["1", "hook_fault x1", "2"]);
}

#[test]
fn deliveries_that_cannot_be_written_are_counted_in_the_next_that_can() {
    let kept = Kept::default();
    kept.refuse.set(2);
    run_into(&kept, b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n", 64).unwrap();
    let words: Vec<String> =
        kept.bodies.borrow().iter().flat_map(|d| &d.messages).map(word).collect();
    assert_eq!(words, ["3", "hook_fault x2", "4"]);
    kept.refuse.set(9);
    assert!(run_into(&kept, b"{\"n\":1}\n", 64).is_err());
}

proptest! {
    #[test]
    fn no_split_of_the_bytes_changes_what_is_recorded(
        lines in proptest::collection::vec("[ a{}\\[\\]\":,1\\\\]{0,12}|\\{\"n\":[0-9]\\}", 0..8),
        piece in 1usize..9,
    ) {
        let bytes = lines.join("\n").into_bytes();
        prop_assert_eq!(told(&bytes, piece), told(&bytes, 10_000));
    }
}
