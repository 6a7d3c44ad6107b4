//! IDN: identity and keys.
//!
//! Inputs are chosen so that each demand is touched by its own case only: delimiters in IDN-02,
//! percent signs in IDN-03, upper-case letters in IDN-06, combining marks in IDN-05. That is
//! what lets a break mode redden exactly one case.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::conformance::check::{CaseEnd, Checks};
use crate::conformance::contract::{Body, Case, Contract};
use crate::conformance::random::Random;
use crate::conformance::subjects::{KeyCodec, KeyParts, NativeProbe, ParsedKey};
use crate::domain::key::ItemCategory;

/// The contract.
pub fn contract() -> Contract {
    Contract { id: "IDN", title: "identity and keys", cases: CASES.to_vec(), floor: 13 }
}

const GRAMMAR: &str =
    "shared harness contracts: a minimal common vocabulary (reference components are escaped)";
const NAMESPACE: &str =
    "shared harness contracts: a namespace is a corpus identity, not a source path";

const CASES: &[Case] = &[
    Case {
        id: "IDN-01",
        title: "a key names harness, namespace and native id in that order",
        clause: GRAMMAR,
        checks: 1,
        why: "Other programs build the same keys; a part in another place is another key.",
        body: Body::Keys(idn_01),
    },
    Case {
        id: "IDN-02",
        title: "a delimiter inside a component cannot forge another identity",
        clause: GRAMMAR,
        checks: 2,
        why: "Two conversations that share a key share their events and their verdicts.",
        body: Body::Keys(idn_02),
    },
    Case {
        id: "IDN-03",
        title: "a percent sign in a component is itself escaped",
        clause: GRAMMAR,
        checks: 1,
        why: "An unescaped percent sign lets a native id spell another id's escape.",
        body: Body::Keys(idn_03),
    },
    Case {
        id: "IDN-04",
        title: "escapes are UTF-8 bytes in uppercase hex, and only where needed",
        clause: GRAMMAR,
        checks: 1,
        why: "Keys are compared as text; a second spelling is a second conversation.",
        body: Body::Keys(idn_04),
    },
    Case {
        id: "IDN-05",
        title: "composed and decomposed spellings stay two identities",
        clause: GRAMMAR,
        checks: 1,
        why: "The native spelling is the identity; normalising merges what the provider keeps apart.",
        body: Body::Keys(idn_05),
    },
    Case {
        id: "IDN-06",
        title: "letter case is preserved",
        clause: GRAMMAR,
        checks: 1,
        why: "Native ids are not UUIDs everywhere; folding case merges two of them.",
        body: Body::Keys(idn_06),
    },
    Case {
        id: "IDN-07",
        title: "an empty or blank component is refused (incl. U+FEFF, U+0085, NBSP)",
        clause: GRAMMAR,
        checks: 2,
        why: "A blank id would gather every record whose id was not found.",
        body: Body::Keys(idn_07),
    },
    Case {
        id: "IDN-08",
        title: "equal native ids under two harnesses or namespaces are two keys",
        clause: NAMESPACE,
        checks: 1,
        why: "Two machines' histories read into one store must not merge.",
        body: Body::Keys(idn_08),
    },
    Case {
        id: "IDN-09",
        title: "item keys are scoped by category and by conversation",
        clause: "shared harness contracts: call, response, turn and item ids are scoped",
        checks: 1,
        why: "A call and a turn with one native id are two things.",
        body: Body::Keys(idn_09),
    },
    Case {
        id: "IDN-10",
        title: "every key parses back to the identity that made it (property)",
        clause: GRAMMAR,
        checks: 2,
        why: "A key that cannot be taken apart again cannot be shown, filtered or exported.",
        body: Body::Keys(idn_10),
    },
    Case {
        id: "IDN-11",
        title: "a non-canonical spelling of a key is refused by the parser",
        clause: "shared harness contracts: consumers compare canonical keys",
        checks: 1,
        why: "A parser that accepts two spellings lets one conversation have two keys.",
        body: Body::Keys(idn_11),
    },
    Case {
        id: "IDN-12",
        title: "moving or archiving the file does not rename the conversation",
        clause: NAMESPACE,
        checks: 2,
        why: "An archived session would lose its history and appear as a new one.",
        body: Body::Native(idn_12),
    },
    Case {
        id: "IDN-13",
        title: "a session-tree id never becomes the conversation id",
        clause: "shared harness contracts: session_id may identify the entire spawned tree",
        checks: 2,
        why: "Every sub-agent of a tree would be merged into its root.",
        body: Body::Native(idn_13),
    },
];

fn codex(native_id: &str) -> KeyParts {
    KeyParts::new("codex", "local", native_id)
}

/// Checks that each of some native ids has its own key and parses back.
fn distinct(keys: &mut dyn KeyCodec, parts: &[KeyParts]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for part in parts {
        let key = keys.conversation(part)?;
        let back = keys.parse(&key)?.conversation;
        if back != *part {
            return Err(format!("{key} parses back to {back:?}, not {part:?}"));
        }
        if !seen.insert(key.clone()) {
            return Err(format!("{key} is the key of two identities"));
        }
    }
    Ok(())
}

fn idn_01(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let expected = Ok("conversation:codex:local:0199a-b".to_owned());
    checks.equal("spelling", &expected, &keys.conversation(&codex("0199a-b")));
    Ok(())
}

fn idn_02(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let splits = [
        [KeyParts::new("codex", "a:b", "c"), KeyParts::new("codex", "a", "b:c")],
        [KeyParts::new("codex:a", "b", "c"), KeyParts::new("codex", "a:b", "c")],
        [codex("x:"), codex("x")],
    ];
    checks.each("no-forged-identity", 3, &splits, |pair| distinct(keys, pair));
    checks.each("delimiters-are-the-grammars", 3, splits.iter().flatten(), |parts| {
        let key = keys.conversation(parts)?;
        let delimiters = key.matches(':').count();
        if delimiters == 3 { Ok(()) } else { Err(format!("{key} has {delimiters} delimiters")) }
    });
    Ok(())
}

fn idn_03(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let pairs = [("100%", "100%25"), ("%41", "%2541"), ("a%3ab", "a%253ab"), ("%", "%25")];
    checks.each("percent-is-escaped", 4, pairs, |(native, escaped)| {
        let key = keys.conversation(&codex(native))?;
        if key == format!("conversation:codex:local:{escaped}") { Ok(()) } else { Err(key) }
    });
    Ok(())
}

fn idn_04(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let pairs = [
        ("az09-_.!~*'()/\u{e9}", "az09-_.!~*'()%2F%C3%A9"),
        ("\u{1f600}", "%F0%9F%98%80"),
        ("a+b=c&d?e#f/", "a%2Bb%3Dc%26d%3Fe%23f%2F"),
        ("\\[]{}", "%5C%5B%5D%7B%7D"),
        ("a\nb\u{7f}", "a%0Ab%7F"),
    ];
    checks.each("exact-spelling", 5, pairs, |(native, escaped)| {
        let key = keys.conversation(&codex(native))?;
        if key == format!("conversation:codex:local:{escaped}") { Ok(()) } else { Err(key) }
    });
    Ok(())
}

fn idn_05(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let pairs = [
        [codex("caf\u{e9}"), codex("cafe\u{301}")],
        [codex("\u{f1}"), codex("n\u{303}")],
        [codex("\u{fc}ber"), codex("u\u{308}ber")],
    ];
    checks.each("two-identities", 3, &pairs, |pair| distinct(keys, pair));
    Ok(())
}

fn idn_06(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let pairs = [
        [codex("Thread-A"), codex("thread-a")],
        [KeyParts::new("Acme", "local", "x"), KeyParts::new("acme", "local", "x")],
        [codex("0199ABCD"), codex("0199abcd")],
    ];
    checks.each("case-is-identity", 3, &pairs, |pair| distinct(keys, pair));
    Ok(())
}

fn idn_07(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let blanks = ["", " ", "\t", "\u{feff}", "\u{85}", "\u{a0}", "\u{2003}\u{feff} "];
    checks.each("blank-is-refused", 7, blanks, |blank| {
        for parts in
            [KeyParts::new(blank, "local", "x"), KeyParts::new("codex", blank, "x"), codex(blank)]
        {
            if let Ok(key) = keys.conversation(&parts) {
                return Err(format!("{blank:?} was accepted as {key:?}"));
            }
        }
        match keys.item(ItemCategory::Call, &codex("x"), blank) {
            Ok(key) => Err(format!("item id {blank:?} was accepted as {key:?}")),
            Err(_) => Ok(()),
        }
    });
    let spellings = ["%20", "%EF%BB%BF", "%C2%85", "%C2%A0"];
    checks.each("blank-is-not-parsed", 4, spellings, |blank| {
        match keys.parse(&format!("conversation:codex:local:{blank}")) {
            Ok(parsed) => Err(format!("{blank} was parsed as {parsed:?}")),
            Err(_) => Ok(()),
        }
    });
    Ok(())
}

fn idn_08(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let mut identities = Vec::new();
    for provider in ["codex", "claude_code"] {
        for namespace in ["local", "build-host"] {
            identities.push(KeyParts::new(provider, namespace, "0199"));
        }
    }
    let made: BTreeSet<_> = identities.iter().map(|parts| keys.conversation(parts)).collect();
    checks.equal("four-keys", &identities.len(), &made.iter().flatten().count());
    Ok(())
}

fn idn_09(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let mut made = BTreeSet::new();
    for conversation in ["one", "two"] {
        for category in ItemCategory::ALL {
            made.extend(keys.item(category, &codex(conversation), "7"));
        }
        made.extend(keys.conversation(&codex(conversation)));
    }
    checks.equal("each-has-its-own-key", &10, &made.len());
    Ok(())
}

/// Characters without letter case, combining marks or white space.
const ALPHABET: &[char] = &[
    'a',
    'b',
    'z',
    '0',
    '9',
    '-',
    '_',
    '.',
    '~',
    '(',
    '/',
    '\\',
    '"',
    '\'',
    '#',
    '?',
    '&',
    '+',
    '=',
    ':',
    '%',
    '\u{e9}',
    '\u{5d0}',
    '\u{4e2d}',
    '\u{1f600}',
    '\u{0}',
    '\u{200b}',
    '\u{fffd}',
];

fn idn_10(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let mut random = Random::new(checks.seed());
    let identities: Vec<KeyParts> = (0..200_usize)
        .map(|index| {
            // The index keeps identities apart also for a writer that merges some characters.
            let length = 1 + random.below(120);
            let native_id = format!("{index}{}", random.text(ALPHABET, length));
            let namespace = format!("n{}", random.text(ALPHABET, index % 9));
            KeyParts {
                provider: format!("p{}", random.text(ALPHABET, index % 5)),
                namespace,
                native_id,
            }
        })
        .collect();
    checks.each("conversation-keys", 200, &identities, |parts| {
        let key = keys.conversation(parts)?;
        let parsed = keys.parse(&key)?;
        let wanted = ParsedKey { conversation: parts.clone(), item: None };
        if parsed == wanted { Ok(()) } else { Err(format!("{key} parses back to {parsed:?}")) }
    });
    checks.each(
        "item-keys",
        200,
        identities.iter().zip(ItemCategory::ALL.iter().cycle()),
        |(parts, category)| {
            let key = keys.item(*category, &codex("thread"), &parts.native_id)?;
            let item = keys.parse(&key)?.item;
            let wanted = Some((*category, parts.native_id.clone()));
            if item == wanted { Ok(()) } else { Err(format!("{key} parses back to {item:?}")) }
        },
    );
    Ok(())
}

fn idn_11(checks: &mut Checks<'_>, keys: &mut dyn KeyCodec) -> CaseEnd {
    let spellings = [
        "conversation:codex:local:caf%c3%a9",
        "conversation:codex:local:%61bc",
        "conversation:codex:local:a b",
        "conversation:codex:local:a/b",
        "conversation:codex:local:caf\u{e9}",
        "conversation:codex:local:a+b",
        "conversation:codex:local:%C3",
        "conversation:codex:local:50%",
        "conversation:codex:local:%4",
        " conversation:codex:local:a",
        "conversation:codex:local:a\n",
        "call:codex:local:a:b%2fc",
    ];
    checks.each("refused", spellings.len(), spellings, |spelling| match keys.parse(spelling) {
        Ok(parsed) => Err(format!("{spelling:?} was parsed as {parsed:?}")),
        Err(_) => Ok(()),
    });
    Ok(())
}

/// A short rollout: its metadata and one turn.
fn rollout(meta: Value) -> Vec<Value> {
    let mut meta = meta;
    if let Some(object) = meta.as_object_mut() {
        let more = [
            ("timestamp", json!("2026-05-01T08:00:00.000Z")),
            ("cwd", json!("/home/dev/demo")),
            ("originator", json!("codex_cli_rs")),
            ("cli_version", json!("0.140.0")),
            ("source", json!("cli")),
        ];
        object.extend(more.map(|(key, value)| (key.to_owned(), value)));
    }
    vec![
        json!({"timestamp": "2026-05-01T08:00:00.000Z", "type": "session_meta", "payload": meta}),
        json!({"timestamp": "2026-05-01T08:00:01.000Z", "type": "response_item", "payload": {
            "type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "list the files"}]}}),
    ]
}

const ONE: &str = "019a0000-0000-7000-8000-000000000001";
const TWO: &str = "019a0000-0000-7000-8000-000000000002";
const TREE: &str = "019a0000-0000-7000-8000-00000000000f";

fn dated_path(id: &str) -> String {
    format!("sessions/2026/05/01/rollout-2026-05-01T08-00-00-{id}.jsonl")
}

fn idn_12(checks: &mut Checks<'_>, native: &mut dyn NativeProbe) -> CaseEnd {
    let lines = rollout(json!({"id": ONE}));
    let here = checks.made(native.conversation_of(&dated_path(ONE), &lines).ok())?;
    let others = [
        format!("archived_sessions/rollout-2026-05-01T08-00-00-{ONE}.jsonl"),
        format!("elsewhere/{}", dated_path(ONE)),
        "copy.jsonl".to_owned(),
        dated_path(TWO),
    ];
    checks.each("moving-keeps-the-key", 4, &others, |path| {
        let there = native.conversation_of(path, &lines)?;
        if there == here { Ok(()) } else { Err(format!("at {path} it is {there}, not {here}")) }
    });
    let replaced = native.conversation_of(&dated_path(ONE), &rollout(json!({"id": TWO})));
    checks.check(
        "another-conversation-at-the-path-is-another-key",
        replaced.as_ref().is_ok_and(|key| *key != here),
        "a key of its own",
        || format!("{replaced:?}"),
    );
    Ok(())
}

fn idn_13(checks: &mut Checks<'_>, native: &mut dyn NativeProbe) -> CaseEnd {
    let child = |id: &str| rollout(json!({"id": id, "session_id": TREE}));
    let one = native.conversation_of(&dated_path(ONE), &child(ONE));
    let two = native.conversation_of(&dated_path(TWO), &child(TWO));
    checks.check(
        "not-the-tree-id",
        one.as_ref().is_ok_and(|key| key.native_id() != TREE),
        "the thread's own id",
        || format!("{one:?}"),
    );
    checks.check(
        "children-of-one-tree-are-two",
        matches!((&one, &two), (Ok(one), Ok(two)) if one != two),
        "two keys",
        || format!("{one:?} and {two:?}"),
    );
    Ok(())
}
