//! The one choke point before anything is kept: every string of a draft is redacted, then cut.
//!
//! Secrets are looked for in the whole text (with some slack around the part that is kept), so a
//! cut cannot hide half of one. Base64 payloads and data URLs become a length and a hash. What is
//! cut is counted. Both roads to disk, the journal and the store, go through here.

use super::redact;
use crate::base::hash::Digest;
use crate::base::limits::{TEXT_BYTES_MAX, TEXT_TAIL_BYTES};
use crate::base::text;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{Message, safe_tag};
use serde_json::Value;

/// Extra text looked at around the part that is kept.
pub(super) const SLACK_BYTES: usize = 4 * 1024;
/// Bytes of all strings of one JSON field together.
const FIELD_BYTES_MAX: usize = 256 * 1024;
/// What one element costs beside its text.
const ELEMENT_BYTES: usize = 8;

/// What was cut out of one field.
#[derive(Debug, Default, Clone, Copy)]
struct Cut {
    bytes: usize,
}

/// Redacts and cuts every message in place; what was cut is appended as losses.
pub fn prepare(messages: &mut Vec<Message>) {
    super::identifiers::clean(messages);
    let mut losses = Vec::new();
    for message in messages.iter_mut() {
        match message {
            Message::Event(event) => {
                let conversation = event.conversation.clone();
                let path = event.path.clone();
                let mut note = |name: &str, cut: Cut| {
                    if cut.bytes > 0 {
                        losses.push(cut_loss(&conversation, name, cut, &path));
                    }
                };
                note("tool_input", field(&mut event.tool_input));
                note("tool_response", field(&mut event.tool_response));
                // The payload repeats what the other fields hold; its cuts are theirs.
                field(&mut event.raw);
                if let Some(held) = &mut event.text {
                    note("text", string(held));
                }
                if let Some(name) = &mut event.tool_name {
                    *name = safe_tag(&redact::text(name));
                }
            }
            Message::Evidence(evidence) => {
                let cut = json(&mut evidence.payload);
                if let Some(extension) = &mut evidence.extension {
                    json(&mut extension.fields);
                }
                string(&mut evidence.slot);
                if cut.bytes > 0 {
                    losses.push(cut_loss(&evidence.conversation, "payload", cut, &evidence.path));
                }
            }
            Message::Turn(turn) => {
                let facts = [
                    &mut turn.cwd,
                    &mut turn.title,
                    &mut turn.git_branch,
                    &mut turn.model,
                    &mut turn.agent_version,
                    &mut turn.agent_nickname,
                    &mut turn.agent_role,
                    &mut turn.agent_path,
                ];
                for held in facts.into_iter().flatten() {
                    string(held);
                }
            }
            Message::Loss(loss) => loss.detail = redact::text(&loss.detail).into_owned(),
            Message::Usage(usage) => {
                if let Some(model) = &mut usage.model {
                    string(model);
                }
            }
            Message::Capabilities(_) | Message::Lineage(_) => {}
        }
    }
    messages.extend(losses.into_iter().map(Message::Loss));
}

fn cut_loss(conversation: &str, field: &str, cut: Cut, path: &str) -> LossDraft {
    LossDraft {
        conversation: Some(conversation.to_owned()),
        reason: LossReason::TextCut,
        detail: field.to_owned(),
        count: cut.bytes as u64,
        path: path.to_owned(),
    }
}

fn field(value: &mut Option<Value>) -> Cut {
    value.as_mut().map(json).unwrap_or_default()
}

/// Redacts and cuts one text that stands alone; answers how many bytes were cut.
pub(super) fn short_text(held: &mut String) -> usize {
    string(held).bytes
}

/// Redacts and cuts one text in place.
fn string(held: &mut String) -> Cut {
    cut_string(held, false)
}

/// Cuts one text in place, and redacts it where it is not `clean`, or is no longer what was judged
/// clean: a cut can bring parts together.
fn cut_string(held: &mut String, clean: bool) -> Cut {
    let before = held.len();
    if let Some(blob) = redact::data_blob(held) {
        *held = blob_mark(held, blob.kind());
        return Cut { bytes: 0 };
    }
    if clean && before <= TEXT_BYTES_MAX {
        return Cut::default();
    }
    let (window, _) =
        text::cap_to(held, TEXT_BYTES_MAX + 2 * SLACK_BYTES, TEXT_TAIL_BYTES + SLACK_BYTES);
    let clean = redact::text(&window);
    let (kept, cut) = text::cap(&clean);
    if cut == 0 {
        if matches!(&kept, std::borrow::Cow::Borrowed(k) if k.len() == before) {
            return Cut::default();
        }
        let kept = kept.into_owned();
        *held = kept;
        return Cut::default();
    }
    // Counted against the original: the window may have been smaller already.
    let bytes = before.saturating_sub(TEXT_BYTES_MAX).max(cut);
    let kept = kept.replacen(&text::cut_mark(cut), &text::cut_mark(bytes), 1);
    *held = kept;
    Cut { bytes }
}

/// A text as it may be shown: what `prepare` would keep of it if nothing were ever cut.
pub fn shown_text(text: &str) -> String {
    match redact::data_blob(text) {
        Some(blob) => blob_mark(text, blob.kind()),
        None => redact::text(text).into_owned(),
    }
}

/// A JSON field as it may be shown; nothing is cut.
pub fn show_json(root: &mut Value) {
    redact::value(root);
    show_strings(root);
}

fn show_strings(value: &mut Value) {
    match value {
        Value::String(held) => *held = shown_text(held),
        Value::Array(items) => items.iter_mut().for_each(show_strings),
        Value::Object(map) => map.values_mut().for_each(show_strings),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn blob_mark(data: &str, kind: &str) -> String {
    let hash = Digest::of(data.as_bytes()).short_hex();
    format!("[data {kind}, {} bytes, blake3 {hash}]", data.len())
}

/// Redacts and cuts one JSON field in place.
fn json(root: &mut Value) -> Cut {
    // Identifiers were not judged as texts are.
    let clean = !redact::value(root).identifiers;
    let mut budget = FIELD_BYTES_MAX;
    let mut cut = Cut::default();
    // Depth is bounded by the parser (and by the repair), so plain recursion is safe here.
    walk(root, clean, &mut budget, &mut cut);
    cut
}

fn walk(value: &mut Value, clean: bool, budget: &mut usize, cut: &mut Cut) {
    match value {
        Value::String(held) => {
            cut.bytes += cut_string(held, clean).bytes;
            if held.len() > *budget {
                cut.bytes += held.len();
                *held = text::cut_mark(held.len());
            }
            *budget = budget.saturating_sub(held.len() + ELEMENT_BYTES);
        }
        Value::Array(items) => {
            *budget = budget.saturating_sub(ELEMENT_BYTES);
            let mut kept = 0;
            for item in items.iter_mut() {
                if *budget == 0 {
                    break;
                }
                kept += 1;
                walk(item, clean, budget, cut);
            }
            for gone in items.drain(kept..) {
                cut.bytes += gone.to_string().len();
            }
        }
        Value::Object(map) => {
            *budget = budget.saturating_sub(ELEMENT_BYTES);
            let mut gone = Vec::new();
            for (key, item) in map.iter_mut() {
                if *budget == 0 {
                    gone.push(key.clone());
                    continue;
                }
                *budget = budget.saturating_sub(key.len());
                walk(item, clean, budget, cut);
            }
            for key in gone {
                cut.bytes += map.remove(&key).map_or(0, |v| v.to_string().len());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            *budget = budget.saturating_sub(ELEMENT_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{Channel, EventDraft, EventKind, NativeId};
    use serde_json::json;

    fn canary() -> String {
        ["gh", "p_", &"A1b2C3".repeat(6)].concat()
    }

    fn event(text: &str) -> EventDraft {
        let mut event =
            EventDraft::new("s", EventKind::PostToolUse, NativeId::call("c"), Channel::Hook);
        event.text = Some(text.to_owned());
        event
    }

    fn losses(messages: &[Message]) -> Vec<&LossDraft> {
        messages
            .iter()
            .filter_map(|m| if let Message::Loss(loss) = m { Some(loss) } else { None })
            .collect()
    }

    #[test]
    fn a_secret_is_gone_from_every_field_of_an_event() {
        let secret = canary();
        let mut draft = event(&format!("use {secret} now"));
        draft.tool_input = Some(json!({"command": format!("curl -H {secret}")}));
        draft.tool_response = Some(json!([{"stdout": secret.clone()}]));
        draft.raw = Some(json!({"a": {secret.clone(): 1}}));
        let mut messages = vec![Message::Event(draft)];
        prepare(&mut messages);
        assert!(!serde_json::to_string(&messages).unwrap().contains(&secret));
    }

    #[test]
    fn a_secret_at_any_place_of_a_long_text_is_gone_also_across_the_cut() {
        let secret = canary();
        for at in [0, 100, 12_000, 12_270, 12_288, 30_000, 59_980] {
            let mut text = "word ".repeat(12_000);
            text.insert_str(at, &format!(" {secret} "));
            let mut messages = vec![Message::Event(event(&text))];
            prepare(&mut messages);
            let kept = serde_json::to_string(&messages).unwrap();
            assert!(!kept.contains(&secret), "at {at}");
            assert!(!kept.contains(&secret[..20]), "half of it at {at}");
        }
    }

    #[test]
    fn a_long_text_is_cut_and_the_cut_is_a_counted_loss() {
        let mut messages = vec![Message::Event(event(&"x y ".repeat(20_000)))];
        prepare(&mut messages);
        let found = losses(&messages);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].reason, LossReason::TextCut);
        assert_eq!(found[0].detail, "text");
        assert_eq!(found[0].count, 80_000 - TEXT_BYTES_MAX as u64);
    }

    #[test]
    fn a_response_of_very_many_small_parts_is_bounded() {
        let mut draft = event("t");
        draft.tool_response = Some(json!((0..200_000).collect::<Vec<_>>()));
        let mut messages = vec![Message::Event(draft)];
        prepare(&mut messages);
        assert!(serde_json::to_string(&messages).unwrap().len() < 2 * FIELD_BYTES_MAX);
        assert_eq!(losses(&messages).len(), 1);
    }

    #[test]
    fn very_many_empty_containers_are_bounded_too() {
        let mut draft = event("t");
        draft.tool_input = Some(json!(vec![json!({}); 200_000]));
        draft.raw = draft.tool_input.clone();
        let mut messages = vec![Message::Event(draft)];
        prepare(&mut messages);
        assert!(serde_json::to_string(&messages).unwrap().len() < 2 * FIELD_BYTES_MAX);
    }

    #[test]
    fn image_data_becomes_a_length_and_a_hash() {
        let mut draft = event("t");
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let data: String = (0..2048).map(|i| char::from(digits[i * 37 % 61])).collect();
        draft.tool_response = Some(json!({"source": {"data": data}}));
        let mut messages = vec![Message::Event(draft)];
        prepare(&mut messages);
        let kept = serde_json::to_string(&messages).unwrap();
        assert!(kept.contains("[data "), "{kept}");
        assert!(losses(&messages).is_empty());
    }
}
