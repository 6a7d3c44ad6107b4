//! What is stored of a source as a whole: that it could not be read, or is nobody's.

use super::identifiers::source_name;
use crate::base::hash::Digest;
use crate::domain::loss::LossReason;
use crate::domain::record::{Body, Ingress, LossRecord, Place, Sealed};
use crate::ports::files::FileStat;
use crate::ports::recorder::{Batch, Expect, KnownSource, SourceSpec, Watermark};
use serde_json::Value;
use std::io;
use std::path::Path;

/// Why a file or folder could not be read.
pub fn reason_of(error: &io::Error) -> LossReason {
    match error.kind() {
        io::ErrorKind::NotFound => LossReason::SourceVanished,
        io::ErrorKind::InvalidInput => LossReason::SourceNotAFile,
        _ => LossReason::SourceUnreadable,
    }
}

/// A batch that holds one loss of a whole source.
pub fn loss_of_source(
    path: &Path,
    reason: LossReason,
    detail: &str,
    mark: Option<Watermark>,
) -> Batch {
    let place =
        Place { offset: 0, length: 0, line_hash: Digest::of(b""), path: String::new(), index: 0 };
    let body = Body::Loss(LossRecord { reason, detail: detail.to_owned(), count: 1, at_us: 0 });
    let source = SourceSpec {
        kind: "file",
        format: String::new(),
        provider: String::new(),
        path: source_name(path),
        stat: mark.as_ref().map(|m| m.stat),
    };
    let records = vec![Sealed { conversation: None, place, body }];
    let mut batch = Batch::of(source, records, Ingress::BuiltIn);
    batch.watermark = mark;
    batch
}

/// One located loss, and a mark that keeps the file from being looked at again unchanged. Rows of
/// a time when the file was recognised stay, like those of a file that is gone; but not when what
/// was read still stands in it (`stands`): then more of the file showed what it is.
pub fn not_recognised(
    path: &Path,
    stat: &FileStat,
    known: Option<&KnownSource>,
    stands: bool,
) -> Batch {
    let mark = Watermark {
        offset: 0,
        lines: 0,
        chain: Digest::of(b""),
        windows: None,
        decoder: "recognise/1".to_owned(),
        state: Value::Null,
        stat: *stat,
        complete: true,
    };
    let reason = LossReason::SourceNotRecognised;
    let mut batch = loss_of_source(path, reason, "no adapter claims it", Some(mark));
    let read = known.and_then(|known| Some((known.generation, known.watermark.as_ref()?.offset)));
    batch.expect = match read {
        Some((generation, offset)) => Expect::At { generation, offset },
        None => Expect::Unread,
    };
    if let Some(known) = known.filter(|known| stands && !known.format.is_empty()) {
        batch.expect = Expect::Replay;
        batch.generation = known.begun + 1;
        batch.fresh = true;
        batch.flip = true;
    }
    batch
}
