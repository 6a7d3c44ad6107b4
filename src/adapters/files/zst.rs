//! Compressed rollouts (`.jsonl.zst`), streamed in constant memory.

use std::fs::File;
use std::io::{self, Read};

/// The decompressed bytes of `file` from `offset` on.
pub(super) fn open(file: File, offset: u64) -> io::Result<Box<dyn Read + Send>> {
    let mut stream = zstd::stream::read::Decoder::new(file)?;
    // There is no seeking in the stream: what stands before the offset is decompressed and dropped.
    let skipped = io::copy(&mut Read::by_ref(&mut stream).take(offset), &mut io::sink())?;
    if skipped < offset {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the compressed file is shorter than what was read of it",
        ));
    }
    Ok(Box::new(stream))
}
