//! Native ids and names of sources, kept as they are unless they hold an issued secret.
//!
//! Ids join records, so they are never judged by entropy or by what stands before them. One that
//! holds a secret with a vendor's own prefix is kept without it, with a hash of the whole: what had
//! equal ids still meets. Each is a counted loss.

use super::redact;
use crate::base::text::path_name;
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::Message;
use std::path::Path;

/// The name of a file as a source.
pub fn source_name(path: &Path) -> String {
    let name = path_name(path);
    redact::identifier(&name).unwrap_or(name)
}

/// Takes the secrets out of the ids of every message; what was taken out is appended as losses.
pub(super) fn clean(messages: &mut Vec<Message>) {
    let mut losses = Vec::new();
    for message in messages.iter_mut() {
        let mut found = Vec::new();
        for (field, id) in fields(message) {
            if let Some(clean) = redact::identifier(id) {
                *id = clean;
                found.push(field);
            }
        }
        if !found.is_empty() {
            let of = conversation(message).map(str::to_owned);
            let loss =
                |field| LossDraft::one(of.as_deref(), LossReason::IdentifierRedacted, field, "");
            losses.extend(found.into_iter().map(loss));
        }
    }
    messages.extend(losses.into_iter().map(Message::Loss));
}

/// Every id of a message, with its name; the place inside the line is one too.
fn fields(message: &mut Message) -> Vec<(&'static str, &mut String)> {
    match message {
        Message::Event(event) => {
            let mut all = vec![
                ("conversation", &mut event.conversation),
                ("native_id", &mut event.native.id),
                ("path", &mut event.path),
            ];
            all.extend(event.turn_id.as_mut().map(|id| ("turn_id", id)));
            all.extend(event.call_id.as_mut().map(|id| ("call_id", id)));
            all.extend(event.agent_id.as_mut().map(|id| ("agent_id", id)));
            all
        }
        Message::Evidence(evidence) => vec![
            ("conversation", &mut evidence.conversation),
            ("native_id", &mut evidence.event_native.id),
            ("path", &mut evidence.path),
        ],
        Message::Usage(usage) => {
            let mut all =
                vec![("conversation", &mut usage.conversation), ("path", &mut usage.path)];
            all.extend(usage.response_id.as_mut().map(|id| ("response_id", id)));
            all.extend(usage.request_id.as_mut().map(|id| ("request_id", id)));
            all.extend(usage.turn_id.as_mut().map(|id| ("turn_id", id)));
            all.extend(usage.copied_from.as_mut().map(|id| ("copied_from", id)));
            all.extend(usage.observed_at.as_mut().map(|at| ("observed_at", at)));
            all
        }
        Message::Turn(turn) => {
            let mut all = vec![("conversation", &mut turn.conversation), ("path", &mut turn.path)];
            all.extend(turn.turn_id.as_mut().map(|id| ("turn_id", id)));
            all
        }
        Message::Lineage(lineage) => vec![
            ("conversation", &mut lineage.conversation),
            ("related", &mut lineage.related),
            ("path", &mut lineage.path),
        ],
        Message::Capabilities(draft) => vec![("conversation", &mut draft.conversation)],
        Message::Loss(loss) => {
            let mut all = vec![("path", &mut loss.path)];
            all.extend(loss.conversation.as_mut().map(|id| ("conversation", id)));
            all
        }
    }
}

fn conversation(message: &Message) -> Option<&str> {
    match message {
        Message::Event(event) => Some(&event.conversation),
        Message::Evidence(evidence) => Some(&evidence.conversation),
        Message::Usage(usage) => Some(&usage.conversation),
        Message::Turn(turn) => Some(&turn.conversation),
        Message::Lineage(lineage) => Some(&lineage.conversation),
        Message::Capabilities(draft) => Some(&draft.conversation),
        Message::Loss(loss) => loss.conversation.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{Channel, EventDraft, EventKind, NativeId};

    fn secret() -> String {
        ["gh", "p_", &"A1b2C3".repeat(6)].concat()
    }

    fn event(conversation: &str, call: &str) -> Message {
        let native = NativeId::call(call);
        let mut event =
            EventDraft::new(conversation, EventKind::PostToolUse, native, Channel::Hook);
        event.call_id = Some(call.to_owned());
        Message::Event(event)
    }

    #[test]
    fn equal_ids_that_hold_a_secret_stay_equal_and_different_ones_different() {
        let (one, other) = (format!("call-{}", secret()), format!("call-{}x", secret()));
        let mut messages = vec![event("s", &one), event("s", &one), event("s", &other)];
        clean(&mut messages);
        let ids: Vec<String> = messages
            .iter()
            .filter_map(|m| if let Message::Event(e) = m { e.call_id.clone() } else { None })
            .collect();
        assert_eq!(ids[0], ids[1]);
        assert_ne!(ids[0], ids[2]);
        assert!(ids[0].starts_with("call-[REDACTED:github_token]#"), "{}", ids[0]);
        assert!(!serde_json::to_string(&messages).unwrap().contains(&secret()));
        let losses = messages.iter().filter(|m| matches!(m, Message::Loss(_))).count();
        assert_eq!(losses, 6, "of each event the native id and the call id");
    }

    #[test]
    fn ids_without_an_issued_secret_are_left_alone() {
        for id in ["toolu_01q7Zp2XvK9mR4tW8sLd3Yh6", "password=hunter2", "a b", ""] {
            assert_eq!(redact::identifier(id), None, "{id}");
        }
        let path = format!("/w/{}/a.jsonl", secret());
        let name = source_name(Path::new(&path));
        assert!(name.starts_with("/w/[REDACTED:github_token]/a.jsonl#"), "{name}");
        assert_eq!(redact::identifier(&name), None);
    }
}
