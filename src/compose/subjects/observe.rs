//! Sealed records as the observations that the contracts speak of.
//!
//! Which telling of a thing counts is the store's fold: the highest rank, the first among equals.

use crate::conformance::decoding::{At, FACTS, LINEAGE, Observation, QUARANTINE, USAGE};
use crate::domain::event::Channel;
use crate::domain::record::{Body, Sealed};
use std::collections::HashMap;

/// The observations of one source's records, in order.
pub(super) fn observations(source: &str, records: &[Sealed]) -> Vec<Observation> {
    let mut best: HashMap<String, (i64, usize)> = HashMap::new();
    for (number, record) in records.iter().enumerate() {
        let Some((id, rank)) = identity(&record.body) else { continue };
        let held = best.entry(id).or_insert((rank, number));
        if rank > held.0 {
            *held = (rank, number);
        }
    }
    let counts = |number: usize, record: &Sealed| {
        identity(&record.body)
            .is_none_or(|(id, _)| best.get(&id).is_some_and(|(_, first)| *first == number))
    };
    records
        .iter()
        .enumerate()
        .map(|(number, record)| observation(source, record, counts(number, record)))
        .collect()
}

/// What several records of one thing share, and how much a record's telling is worth.
fn identity(body: &Body) -> Option<(String, i64)> {
    match body {
        Body::Event(event) => Some((event.id.to_string(), event.rank)),
        Body::Evidence(evidence) => Some((evidence.id.to_string(), evidence.rank)),
        Body::Usage(usage) => Some((usage.id.to_string(), 0)),
        _ => None,
    }
}

fn observation(source: &str, sealed: &Sealed, counted: bool) -> Observation {
    let place = &sealed.place;
    let mut seen = Observation {
        id: identity(&sealed.body).map(|(id, _)| id),
        conversation: sealed.conversation.as_ref().map(|of| of.native_id.clone()),
        counted,
        at: At {
            source: source.to_owned(),
            offset: place.offset,
            length: place.length,
            line_hash: place.line_hash.hex(),
            path: place.path.clone(),
            index: place.index,
        },
        ..Observation::default()
    };
    tell(&mut seen, &sealed.body);
    seen
}

fn tell(seen: &mut Observation, body: &Body) {
    match body {
        Body::Event(event) => {
            event.kind.as_str().clone_into(&mut seen.kind);
            seen.turn.clone_from(&event.turn_id);
            seen.call.clone_from(&event.call_id);
            seen.tool.clone_from(&event.tool_name);
            seen.outcome = event.outcome.as_ref().map(|outcome| outcome.as_str().to_owned());
            seen.text.clone_from(&event.text);
            seen.fallback = seen.counted && event.rank == Channel::Projection.rank();
        }
        Body::Evidence(evidence) => {
            seen.kind = format!("evidence:{}", evidence.kind.as_str());
            seen.text = Some(evidence.payload.as_str().to_owned());
        }
        Body::Usage(usage) => {
            USAGE.clone_into(&mut seen.kind);
            seen.turn.clone_from(&usage.usage.turn_id);
            seen.model.clone_from(&usage.usage.model);
            seen.copied_from.clone_from(&usage.usage.copied_from);
            seen.counted &= seen.copied_from.is_none();
        }
        Body::Turn(facts) => {
            FACTS.clone_into(&mut seen.kind);
            seen.turn.clone_from(&facts.turn_id);
            seen.model.clone_from(&facts.model);
        }
        Body::Lineage(lineage) => {
            LINEAGE.clone_into(&mut seen.kind);
            let related = lineage.related.rsplit(':').next().unwrap_or_default().to_owned();
            seen.related = Some((lineage.relation.as_str().to_owned(), related));
        }
        Body::Claim(claim) => {
            "claim".clone_into(&mut seen.kind);
            seen.text = Some(claim.text.clone());
        }
        Body::Capability(_) => "capabilities".clone_into(&mut seen.kind),
        Body::Loss(loss) => {
            seen.kind = format!("loss:{}", loss.reason.as_str());
            seen.text = Some(loss.detail.clone());
        }
        Body::Alias(_) => "alias".clone_into(&mut seen.kind),
        Body::HistoricalFinding(_) => "historical_finding".clone_into(&mut seen.kind),
        Body::Quarantine { reason } => {
            QUARANTINE.clone_into(&mut seen.kind);
            seen.text = Some(reason.clone());
        }
    }
}
