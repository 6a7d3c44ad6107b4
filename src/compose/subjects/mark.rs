//! A watermark as JSON and back, so that a contract can hold it as text.

use crate::base::hash::Digest;
use crate::ports::files::{FileKind, FileStat};
use crate::ports::recorder::{Watermark, Windows};
use serde_json::{Value, json};

/// The watermark, as JSON.
pub(super) fn to_json(mark: &Watermark) -> Value {
    let stat = &mark.stat;
    json!({
        "offset": mark.offset,
        "lines": mark.lines,
        "chain": mark.chain.hex(),
        "windows": mark.windows.map(|w| [w.head.hex(), w.tail.hex()]),
        "decoder": mark.decoder,
        "state": mark.state,
        "complete": mark.complete,
        "stat": [stat.device, stat.inode, stat.size],
        "times": [stat.modified_ns, stat.changed_ns],
        "settled": stat.settled,
    })
}

/// The watermark that `to_json` wrote; `None` for anything else.
pub(super) fn from_json(value: &Value) -> Option<Watermark> {
    let number = |pointer: &str| value.pointer(pointer)?.as_u64();
    let time = |pointer: &str| value.pointer(pointer)?.as_i64();
    let digest = |key: &str| Digest::from_hex(value.get(key)?.as_str()?);
    Some(Watermark {
        offset: number("/offset")?,
        lines: number("/lines")?,
        chain: digest("chain")?,
        windows: windows(value.get("windows")?),
        decoder: value.get("decoder")?.as_str()?.to_owned(),
        state: value.get("state")?.clone(),
        stat: FileStat {
            kind: FileKind::File,
            device: number("/stat/0")?,
            inode: number("/stat/1")?,
            size: number("/stat/2")?,
            modified_ns: time("/times/0")?,
            changed_ns: time("/times/1")?,
            settled: value.get("settled")?.as_bool()?,
        },
        complete: value.get("complete")?.as_bool()?,
    })
}

fn windows(value: &Value) -> Option<Windows> {
    let digest = |at: usize| Digest::from_hex(value.get(at)?.as_str()?);
    Some(Windows { head: digest(0)?, tail: digest(1)? })
}
