//! NAT-26 and NAT-27: the hook as a process, which the agent waits for.

use super::{ADAPTER, CaseEnd, Checks};
use crate::conformance::contract::{Body, Case};
use crate::conformance::normalizing::{HookEnd, HookHost, SESSION, Trouble};
use serde_json::json;

pub(super) const CASES: &[Case] = &[
    Case {
        id: "NAT-26",
        title: "a hook process exits 0 and prints nothing, whatever it is fed",
        clause: ADAPTER,
        checks: 2,
        why: "Exit code 2 blocks the user's tool call, and what is printed becomes model context.",
        body: Body::Hook(nat_26),
    },
    Case {
        id: "NAT-27",
        title: "a hook process returns within its deadline when the journal is locked or unwritable",
        clause: ADAPTER,
        checks: 1,
        why: "The agent waits for its hooks.",
        body: Body::Hook(nat_27),
    },
];

fn fed() -> Vec<Vec<u8>> {
    let known = json!({"session_id": SESSION, "cwd": "/w", "hook_event_name": "SessionStart",
        "source": "startup"});
    let unknown = json!({"session_id": SESSION, "hook_event_name": "TelepathyEnd"});
    vec![
        known.to_string().into_bytes(),
        unknown.to_string().into_bytes(),
        b"prose".to_vec(),
        b"\xff\x00".to_vec(),
        Vec::new(),
        [&b"["[..]].concat().repeat(5_000),
    ]
}

fn nat_26(checks: &mut Checks<'_>, host: &mut dyn HookHost) -> CaseEnd {
    let ends: Result<Vec<HookEnd>, String> =
        fed().iter().map(|payload| host.run(payload, Trouble::None)).collect();
    let ends = ends.unwrap_or_default();
    checks.each("exit-0", 6, ends.iter(), |end| {
        if end.exit == Some(0) { Ok(()) } else { Err(format!("{:?}", end.exit)) }
    });
    checks.each("silent", 6, ends.iter(), |end| {
        if end.printed.is_empty() { Ok(()) } else { Err(end.printed.clone()) }
    });
    Ok(())
}

fn nat_27(checks: &mut Checks<'_>, host: &mut dyn HookHost) -> CaseEnd {
    let troubles = [Trouble::JournalLocked, Trouble::JournalUnwritable, Trouble::HomeUnwritable];
    let payload = fed().into_iter().next().unwrap_or_default();
    let ends: Result<Vec<(Trouble, HookEnd)>, String> = troubles
        .into_iter()
        .map(|trouble| host.run(&payload, trouble).map(|end| (trouble, end)))
        .collect();
    let ends = ends.unwrap_or_default();
    checks.each("in-time", 3, ends.iter(), |(trouble, end)| {
        if end.in_time { Ok(()) } else { Err(format!("{trouble:?}: still running")) }
    });
    Ok(())
}
