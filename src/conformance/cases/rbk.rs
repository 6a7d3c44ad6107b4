//! RBK: read-back.
//!
//! Each case records small transcripts of its own, lets one thing happen, and asks again. What a
//! text, a span or a record is, RBK-01, RBK-02 and RBK-13 say; the others keep to plain texts.

use serde_json::{Value, json};

use crate::base::hash::Digest;
use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::contract::{Body, Case, Contract};
use crate::conformance::subjects::{Happening, Indexed, Resolved, Resolver};
use crate::domain::locator::Locator;

/// The contract.
pub fn contract() -> Contract {
    Contract { id: "RBK", title: "read-back", cases: CASES.to_vec(), floor: 15 }
}

const TEXT: &str = "shared harness contracts: excerpts are read back from their source";
const PROOF: &str = "shared harness contracts: an excerpt is verified before it is shown";
const PORT: &str = "docs/json.md: read";

macro_rules! case {
    ($id:literal, $title:literal, $clause:expr, $checks:literal, $why:literal, $body:expr) => {
        Case {
            id: $id,
            title: $title,
            clause: $clause,
            checks: $checks,
            why: $why,
            body: Body::Readback($body),
        }
    };
}

const CASES: &[Case] = &[
    case!(
        "RBK-01",
        "only the selected text comes back, never the record",
        TEXT,
        1,
        "A record holds much that nobody asked for, and that nobody redacted for showing.",
        rbk_01
    ),
    case!(
        "RBK-02",
        "Unicode, nested and indexed selectors are exact",
        TEXT,
        1,
        "A selector that is nearly right shows another text under this one's name.",
        rbk_02
    ),
    case!(
        "RBK-03",
        "decoded, indexed and read-back text agree",
        TEXT,
        1,
        "With two projections of one text, a quotation cannot be found in its own source.",
        rbk_03
    ),
    case!(
        "RBK-04",
        "a changed line is unavailable (line_changed)",
        PROOF,
        1,
        "An offset alone shows whatever stands there today as what was said then.",
        rbk_04
    ),
    case!(
        "RBK-05",
        "a changed prefix with the same line is unavailable (prefix_changed)",
        PROOF,
        1,
        "A line in a rewritten history is no longer evidence of that history.",
        rbk_05
    ),
    case!(
        "RBK-06",
        "a missing file is source_missing, one known to be pruned is source_pruned",
        PROOF,
        2,
        "A file that was lost can come back; one that the agent deleted will not.",
        rbk_06
    ),
    case!(
        "RBK-07",
        "a file that may not be read is its own reason",
        PROOF,
        1,
        "Called missing, a file with the wrong mode is never mended.",
        rbk_07
    ),
    case!(
        "RBK-08",
        "another file at the path is identity_mismatch",
        PROOF,
        1,
        "Paths are used again; even equal bytes are not the file that was read.",
        rbk_08
    ),
    case!(
        "RBK-09",
        "an unknown format is format_unsupported",
        PROOF,
        1,
        "Another parser may well find some text in it, and it is the wrong one.",
        rbk_09
    ),
    case!(
        "RBK-10",
        "a selector that finds nothing is selector_missing",
        PROOF,
        1,
        "The nearest ancestor is not what was asked for.",
        rbk_10
    ),
    case!(
        "RBK-11",
        "an empty string is a value",
        PORT,
        1,
        "That a command printed nothing is something to know.",
        rbk_11
    ),
    case!(
        "RBK-12",
        "text cut at the cap is marked cut",
        "new here: what one answer can hold is bounded",
        1,
        "A part that looks whole is quoted as the whole.",
        rbk_12
    ),
    case!(
        "RBK-13",
        "one lost sibling makes the whole span unavailable",
        TEXT,
        1,
        "A prompt without one of its parts says something else.",
        rbk_13
    ),
    case!(
        "RBK-14",
        "a locator that contradicts its own evidence is refused",
        PROOF,
        1,
        "A locator that nobody recorded can name any bytes of any file.",
        rbk_14
    ),
    case!(
        "RBK-15",
        "counting presence of an excerpt reads no text",
        PORT,
        1,
        "A count over a whole history must not read the history.",
        rbk_15
    ),
];

/// Enough for every text here.
const WHOLE: usize = 1 << 20;
const SOURCE: &str = "one.jsonl";

fn user(n: u32, content: Value) -> Value {
    json!({"type": "user", "uuid": format!("u{n}"), "sessionId": "c1", "promptId": format!("p{n}"),
        "timestamp": format!("2026-05-01T08:00:{n:02}.000Z"), "cwd": "/home/dev", "version": "2.1.300",
        "message": {"role": "user", "content": content}})
}

fn assistant(n: u32, block: Value) -> Value {
    json!({"type": "assistant", "uuid": format!("u{n}"), "sessionId": "c1",
        "timestamp": format!("2026-05-01T08:00:{n:02}.000Z"), "cwd": "/home/dev", "version": "2.1.300",
        "message": {"role": "assistant", "model": "demo", "content": [block]}})
}

fn text(said: &str) -> Value {
    json!({"type": "text", "text": said})
}

fn call(input: Value) -> Value {
    json!({"type": "tool_use", "id": "c", "name": "Lookup", "input": input})
}

/// A prompt and an answer; the answer is what most cases read back.
fn talk(prompt: &str, answer: &str) -> Vec<Value> {
    vec![user(1, json!(prompt)), assistant(2, text(answer))]
}

fn whole(text: &str) -> Result<Resolved, String> {
    Ok(Resolved::Text { text: text.to_owned(), cut: false, full_length: text.len() })
}

fn unavailable(reason: &str) -> Result<Resolved, String> {
    Ok(Resolved::Unavailable(reason.to_owned()))
}

/// The first text of a line that was recorded.
fn of_line(recorded: &[Indexed], line: usize) -> Result<Locator, String> {
    let found = recorded.iter().find(|one| one.line == line);
    found.map(|one| one.locator.clone()).ok_or_else(|| format!("line {line} has no text"))
}

/// Records lines and answers where the text of the last one stands.
fn recorded(resolver: &mut dyn Resolver, name: &str, lines: &[Value]) -> Result<Locator, String> {
    let recorded = resolver.record(name, lines)?;
    of_line(&recorded, lines.len().saturating_sub(1))
}

/// What is answered after something happened to a talk.
fn after(resolver: &mut dyn Resolver, what: Happening<'_>) -> Result<Resolved, String> {
    let answer = recorded(resolver, SOURCE, &talk("run the tests", "all is well"))?;
    resolver.happen(SOURCE, what)?;
    resolver.resolve(&answer, WHOLE)
}

/// Every path at a place, with what it must give.
fn each_path(
    checks: &mut Checks<'_>,
    label: &str,
    resolver: &mut dyn Resolver,
    place: &Result<Locator, String>,
    paths: &[(&str, Result<Resolved, String>)],
) {
    checks.each(label, paths.len(), paths, |(path, expected)| {
        let locator = Locator { path: (*path).to_owned(), ..place.clone()? };
        let got = resolver.resolve(&locator, WHOLE);
        if got == *expected {
            return Ok(());
        }
        Err(format!("{path:?}: expected {expected:?}, got {got:?}"))
    });
}

fn rbk_01(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let place = recorded(resolver, SOURCE, &talk("run the tests", "all is well"));
    let paths = [
        ("message.content[0].text", whole("all is well")),
        ("", unavailable("selector_missing")),
        ("message", unavailable("selector_missing")),
    ];
    each_path(checks, "the-text-or-nothing", resolver, &place, &paths);
    Ok(())
}

fn rbk_02(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let input = json!({"\u{e9}": "composed", "e\u{301}": "decomposed", "a.b": "dotted",
        "a": {"b": "nested"}, "list": [{"k": "first"}, {"k": "second"}], "0": "a key"});
    let place = recorded(resolver, SOURCE, &[user(1, json!("go")), assistant(2, call(input))]);
    let paths = [
        ("message.content[0].input.\u{e9}", whole("composed")),
        ("message.content[0].input.e\u{301}", whole("decomposed")),
        ("message.content[0].input[\"a.b\"]", whole("dotted")),
        ("message.content[0].input.a.b", whole("nested")),
        ("message.content[0].input.list[1].k", whole("second")),
        ("message.content[0].input.0", whole("a key")),
    ];
    each_path(checks, "exact", resolver, &place, &paths);
    Ok(())
}

fn rbk_03(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let result =
        json!({"type": "tool_result", "tool_use_id": "c", "content": [text("a"), text("b")]});
    let lines = [
        user(1, json!("two\r\nlines,  and spaces \t\r\n")),
        user(2, json!([text("one"), text("\u{4e2d}\u{6587} \u{1f600}")])),
        assistant(3, text("  said\r\n")),
        assistant(4, call(json!({"command": "printf 'x\\r\\n'"}))),
        user(5, json!([result])),
    ];
    let decoded = resolver.decode(&lines).unwrap_or_default();
    let recorded = resolver.record(SOURCE, &lines).unwrap_or_default();
    let texts: Vec<String> = recorded.iter().map(|one| one.text.clone()).collect();
    checks.each("agree", lines.len(), recorded, |one| {
        let read = resolver.resolve(&one.locator, WHOLE);
        if texts != decoded {
            return Err(format!("decoded {decoded:?}, indexed {texts:?}"));
        }
        let expected = whole(&one.text);
        if read == expected { Ok(()) } else { Err(format!("{expected:?} is read as {read:?}")) }
    });
    Ok(())
}

fn rbk_04(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let changed = talk("run the tests", "all is lost");
    let got = after(resolver, Happening::Written(&changed));
    checks.equal("line-changed", &unavailable("line_changed"), &got);
    Ok(())
}

fn rbk_05(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let changed = talk("run no  tests", "all is well");
    let got = after(resolver, Happening::Written(&changed));
    checks.equal("prefix-changed", &unavailable("prefix_changed"), &got);
    Ok(())
}

fn rbk_06(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let missing = after(resolver, Happening::Removed);
    checks.equal("missing", &unavailable("source_missing"), &missing);
    let place = recorded(resolver, "two.jsonl", &talk("go", "gone"));
    let pruned = place.and_then(|place| {
        resolver.happen("two.jsonl", Happening::Pruned)?;
        resolver.resolve(&place, WHOLE)
    });
    checks.equal("pruned", &unavailable("source_pruned"), &pruned);
    Ok(())
}

fn rbk_07(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let got = after(resolver, Happening::Denied);
    checks.equal("denied", &unavailable("permission_denied"), &got);
    Ok(())
}

fn rbk_08(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let got = after(resolver, Happening::Replaced);
    checks.equal("another-file", &unavailable("identity_mismatch"), &got);
    Ok(())
}

fn rbk_09(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let got = after(resolver, Happening::OfUnknownFormat);
    checks.equal("unsupported", &unavailable("format_unsupported"), &got);
    Ok(())
}

fn rbk_10(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let place = recorded(resolver, SOURCE, &talk("run the tests", "all is well"));
    let missing = || unavailable("selector_missing");
    let paths = [
        ("message.content[0].text.more", missing()),
        ("message.content[0].txt", missing()),
        ("message.content[3].text", missing()),
    ];
    each_path(checks, "nothing-stands-in", resolver, &place, &paths);
    Ok(())
}

fn rbk_11(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let lines = [user(1, json!("go")), assistant(2, call(json!({"command": ""})))];
    let got = recorded(resolver, SOURCE, &lines).and_then(|place| {
        let path = "message.content[0].input.command".to_owned();
        resolver.resolve(&Locator { path, ..place }, WHOLE)
    });
    checks.equal("empty-is-a-value", &whole(""), &got);
    Ok(())
}

fn rbk_12(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let said = "\u{e9}".repeat(8);
    let place = recorded(resolver, SOURCE, &talk("go", &said));
    let part = |n: usize, cut| {
        Ok(Resolved::Text { text: "\u{e9}".repeat(n), cut, full_length: said.len() })
    };
    let caps = [(16, part(8, false)), (15, part(7, true)), (1, part(0, true))];
    checks.each("marked", caps.len(), caps, |(max_bytes, expected)| {
        let got = resolver.resolve(&place.clone()?, max_bytes);
        if got == expected { Ok(()) } else { Err(format!("at {max_bytes}: {got:?}")) }
    });
    Ok(())
}

fn rbk_13(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let prompt = user(1, json!([text("fix"), {"type": "image"}, text("this")]));
    let place = recorded(resolver, SOURCE, &[prompt]);
    let missing = || unavailable("selector_missing");
    let own = place.as_ref().map(|place| place.path.clone()).unwrap_or_default();
    let paths = [
        (own.as_str(), whole("fix\nthis")),
        ("message.content[0,5].text", missing()),
        ("message.content[0,1].text", missing()),
        ("message.content[0,1,2].text", missing()),
    ];
    each_path(checks, "whole-or-nothing", resolver, &place, &paths);
    Ok(())
}

fn rbk_14(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let place = recorded(resolver, SOURCE, &talk("run the tests", "all is well"));
    let forged = place.as_ref().map_or_else(
        |_| Vec::new(),
        |place| {
            vec![
                Locator { line_hash: Digest::of(b"another line"), ..place.clone() },
                Locator { length: place.length.saturating_sub(1), ..place.clone() },
                Locator { offset: place.offset.saturating_add(1), ..place.clone() },
                Locator { source: format!("{}.other", place.source), ..place.clone() },
                Locator { index: place.index.saturating_add(1), ..place.clone() },
            ]
        },
    );
    checks.each("refused", 5, forged, |locator| {
        let got = resolver.resolve(&locator, WHOLE);
        if got == unavailable("identity_mismatch") { Ok(()) } else { Err(format!("{got:?}")) }
    });
    Ok(())
}

fn rbk_15(checks: &mut Checks<'_>, resolver: &mut dyn Resolver) -> CaseEnd {
    let place = recorded(resolver, SOURCE, &talk("run the tests", "all is well"));
    let before = resolver.reads();
    let there = place.clone().and_then(|place| resolver.is_present(&place));
    let gone = place.and_then(|place| {
        resolver.happen(SOURCE, Happening::Removed)?;
        resolver.is_present(&place)
    });
    let reads = resolver.reads().saturating_sub(before);
    checks.equal("reads-nothing", &(Ok(true), Ok(false), 0), &(there, gone, reads));
    Ok(())
}
