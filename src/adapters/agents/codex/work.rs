//! One line at work: the state it meets, the place it stands in, and the messages it makes.
//!
//! The modules beside this one each add the handling of some shapes to `Work`; they push messages
//! and answer with a `Verdict`, and `finish` makes the outcome of both.

use super::state::{LINEAGES_MAX, State};
use super::{ADAPTER_VERSION, rollout_capabilities};
use crate::domain::event::{Channel, EventDraft, EventKind, NativeId};
use crate::domain::evidence::{EvidenceDraft, ExtensionDraft};
use crate::domain::loss::{LossDraft, LossReason};
use crate::domain::outcome::{
    CapabilitiesDraft, LineageDraft, Message, NormalizationOutcome, Relation, TurnDraft,
};
use crate::domain::payload::EvidenceKind;
use crate::domain::provenance::{CollectionMethod, TrustClass};
use serde_json::Value;
use std::collections::BTreeMap;

/// How a shape was taken.
pub(super) enum Verdict {
    /// Messages were made, if there was anything to say.
    Told,
    /// Known, and deliberately not translated.
    Ignored(&'static str),
    /// Not known; the tag.
    Unknown(String),
}

/// Which words an evidence draft needs beside its payload.
pub(super) struct Origin {
    pub(super) sensor: &'static str,
    /// The end of the provenance: `<where>#<how>`.
    pub(super) provenance: String,
    pub(super) path: String,
}

/// What evidence must know of the event it belongs to.
pub(super) struct Anchor {
    conversation: String,
    kind: EventKind,
    native: NativeId,
    observed_at: Option<String>,
    /// Path of the event's main field.
    pub(super) path: String,
    pub(super) tool_name: Option<String>,
}

impl Anchor {
    pub(super) fn of(event: &EventDraft) -> Self {
        Self {
            conversation: event.conversation.clone(),
            kind: event.kind.clone(),
            native: event.native.clone(),
            observed_at: event.observed_at.clone(),
            path: event.path.clone(),
            tool_name: event.tool_name.clone(),
        }
    }
}

/// What kind of source a line stands in.
#[derive(Clone, Copy)]
pub(super) struct SourceKind {
    /// Its word in provenance.
    pub(super) place: &'static str,
    /// The channel of what it tells first.
    pub(super) first: Channel,
}

/// The id space of calls that a script made.
pub(super) const NESTED: &str = "nested";

/// A rollout: the thread's own record.
const ROLLOUT: SourceKind = SourceKind { place: "rollout", first: Channel::Canonical };

/// One line at work.
pub(super) struct Work<'a> {
    pub(super) state: &'a mut State,
    hint: &'a str,
    at: Option<&'a str>,
    prefix: String,
    kind: SourceKind,
    out: Vec<Message>,
}

impl<'a> Work<'a> {
    /// `at` is the line's own time; `prefix` stands before every path (`payload.`).
    pub(super) fn new(
        state: &'a mut State,
        hint: &'a str,
        at: Option<&'a str>,
        prefix: &str,
    ) -> Self {
        Self { state, hint, at, prefix: prefix.to_owned(), kind: ROLLOUT, out: Vec::new() }
    }

    /// The same for another kind of source than a rollout.
    pub(super) fn told_by(mut self, kind: SourceKind) -> Self {
        self.kind = kind;
        self
    }

    /// The channel of what this source tells first.
    pub(super) fn first_telling(&self) -> Channel {
        self.kind.first
    }

    /// Moves on to another part of the same value.
    pub(super) fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// The line's own time from here on (a bare header tells the session's).
    pub(super) fn set_time(&mut self, at: Option<&'a str>) {
        self.at = at;
    }

    /// Native id of the conversation; the hint until a line names one.
    pub(super) fn conversation(&self) -> &str {
        self.state.conversation.as_deref().unwrap_or(self.hint)
    }

    /// A path inside the line.
    pub(super) fn path(&self, field: &str) -> String {
        format!("{}{field}", self.prefix)
    }

    pub(super) fn time(&self) -> Option<String> {
        self.at.map(str::to_owned)
    }

    /// An event of this conversation, turn and line.
    pub(super) fn event(
        &self,
        kind: EventKind,
        native: NativeId,
        channel: Channel,
        field: &str,
    ) -> EventDraft {
        let conversation = self.conversation();
        let mut event = EventDraft::new(conversation, kind, native, channel);
        event.turn_id = self.state.turn.id().map(str::to_owned);
        event.agent_id = self.state.is_subagent.then(|| conversation.to_owned());
        event.observed_at = self.time();
        event.path = self.path(field);
        event
    }

    pub(super) fn tell(&mut self, event: EventDraft) {
        if let Some(tool) = event.tool_name.as_deref().filter(|_| event.native.space == NESTED) {
            self.state.calls.told_nested(tool);
        }
        self.out.push(Message::Event(event));
    }

    pub(super) fn push(&mut self, message: Message) {
        self.out.push(message);
    }

    /// Names another path for the usage told last.
    pub(super) fn last_usage_path(&mut self, field: &str) {
        let path = self.path(field);
        if let Some(Message::Usage(usage)) = self.out.last_mut() {
            usage.path = path;
        }
    }

    /// Whether nothing has been said about this line so far.
    pub(super) fn is_silent(&self) -> bool {
        self.out.is_empty()
    }

    /// Evidence on an event.
    pub(super) fn prove(
        &mut self,
        on: &Anchor,
        kind: EvidenceKind,
        slot: String,
        payload: Value,
        origin: Origin,
    ) {
        self.prove_with(on, kind, slot, payload, origin, None);
    }

    /// Evidence on an event, with telemetry beside it where there is any.
    pub(super) fn prove_with(
        &mut self,
        on: &Anchor,
        kind: EvidenceKind,
        slot: String,
        payload: Value,
        origin: Origin,
        telemetry: Option<&BTreeMap<&'static str, String>>,
    ) {
        let extension = telemetry.filter(|numbers| !numbers.is_empty()).map(|numbers| {
            let fields = numbers
                .iter()
                .map(|(key, spelled)| ((*key).to_owned(), Value::String(spelled.clone())))
                .collect();
            ExtensionDraft {
                content_class: "tool_telemetry".to_owned(),
                fields: Value::Object(fields),
            }
        });
        self.out.push(Message::Evidence(EvidenceDraft {
            conversation: on.conversation.clone(),
            event_kind: on.kind.clone(),
            event_native: on.native.clone(),
            kind,
            slot,
            payload,
            provenance: format!(
                "codex:{ADAPTER_VERSION}:{}:{}",
                self.kind.place, origin.provenance
            ),
            sensor_name: origin.sensor.to_owned(),
            trust_class: TrustClass::AgentAdjacent,
            collection_method: CollectionMethod::FilePoll,
            observed_at: on.observed_at.clone(),
            extension,
            path: origin.path,
        }));
    }

    /// A loss of one thing in this line.
    pub(super) fn lose(&mut self, reason: LossReason, detail: &str, field: &str) {
        let path = self.path(field);
        let loss = LossDraft::one(Some(self.conversation()), reason, detail, &path);
        self.out.push(Message::Loss(loss));
    }

    /// Content parts of unknown kind, by their tags.
    pub(super) fn lose_parts(&mut self, place: &str, tags: &[String], field: &str) {
        for tag in tags {
            let detail = crate::domain::outcome::safe_tag(&format!("{place}:{tag}"));
            self.lose(LossReason::Unrecognized, &detail, field);
        }
    }

    /// A relation of `conversation` to `related`, told once.
    pub(super) fn relate(
        &mut self,
        conversation: &str,
        relation: Relation,
        related: &str,
        field: &str,
    ) {
        self.relate_at(conversation, relation, related, None, field);
    }

    /// The same, with the position in `related` up to which its history is inherited.
    pub(super) fn relate_at(
        &mut self,
        conversation: &str,
        relation: Relation,
        related: &str,
        position: Option<u64>,
        field: &str,
    ) {
        let key = format!("{conversation}|{}|{related}", relation.as_str());
        let known = &mut self.state.lineages;
        if known.len() >= LINEAGES_MAX || !known.insert(key) {
            return;
        }
        let path = self.path(field);
        self.out.push(Message::Lineage(LineageDraft {
            conversation: conversation.to_owned(),
            relation,
            related: related.to_owned(),
            position,
            path,
        }));
    }

    /// Facts that hold from here on; told when one of them is new.
    pub(super) fn state_facts(&mut self, field: &str, stated: TurnDraft) {
        let known = &mut self.state.facts;
        let mut new = stated.turn_id.is_some() && stated.turn_id != known.turn_id;
        for (said, kept) in [
            (&stated.turn_id, &mut known.turn_id),
            (&stated.cwd, &mut known.cwd),
            (&stated.model, &mut known.model),
            (&stated.agent_version, &mut known.agent_version),
            (&stated.git_branch, &mut known.git_branch),
            (&stated.title, &mut known.title),
            (&stated.agent_nickname, &mut known.agent_nickname),
            (&stated.agent_role, &mut known.agent_role),
            (&stated.agent_path, &mut known.agent_path),
        ] {
            if said.is_some() && said != kept {
                kept.clone_from(said);
                new = true;
            }
        }
        if !new {
            return;
        }
        let draft = TurnDraft {
            conversation: self.conversation().to_owned(),
            observed_at: self.time(),
            path: self.path(field),
            ..stated
        };
        self.out.push(Message::Turn(draft));
    }

    /// The outcome of the line.
    pub(super) fn finish(mut self, verdict: Verdict) -> NormalizationOutcome {
        if self.out.is_empty() {
            return match verdict {
                Verdict::Told => NormalizationOutcome::Ignored { reason: "nothing new" },
                Verdict::Ignored(reason) => NormalizationOutcome::Ignored { reason },
                Verdict::Unknown(tag) => NormalizationOutcome::unrecognized(&tag),
            };
        }
        // Behind the line's own messages, so that their numbers depend on the line alone.
        self.out.sort_by_key(is_context);
        let conversation = self.conversation().to_owned();
        if self.state.declared_for.as_deref() != Some(conversation.as_str()) {
            self.state.declared_for = Some(conversation.clone());
            let capabilities = rollout_capabilities();
            self.out.push(Message::Capabilities(CapabilitiesDraft { conversation, capabilities }));
        }
        NormalizationOutcome::Messages(self.out)
    }
}

/// Whether a message says what holds around the line, which depends on what was told before.
fn is_context(message: &Message) -> bool {
    matches!(message, Message::Turn(_) | Message::Lineage(_) | Message::Capabilities(_))
}
