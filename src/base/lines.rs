//! Bytes into lines: split on `\n` only, offsets count bytes, nothing shifts them.
//!
//! A carriage return, a BOM, NUL bytes and blank lines stay part of their line. A line longer than
//! the cap is reported with its place and never held. What stands after the last `\n` is handed
//! out only on request, since it may still be growing.

use memchr::memchr;
use std::io::{self, Read};

/// One piece of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A complete line, without its `\n`. `offset` is that of its first byte.
    Line { offset: u64, bytes: &'a [u8] },
    /// A line longer than the cap was skipped; `length` counts its bytes without the `\n`.
    TooLong { offset: u64, length: u64 },
}

/// Reads lines from a byte source; at most one line and one chunk are in memory.
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// Start of the unread part of `buffer`.
    start: usize,
    /// How far `buffer` was searched for a line end already.
    searched: usize,
    /// File offset of `buffer[start]`.
    offset: u64,
    cap: usize,
    chunk: usize,
    /// Set while inside a line that is over the cap: offset of its first byte.
    skipping: Option<u64>,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Lines of `source`, whose first byte stands at `offset` of the file.
    pub fn new(source: R, offset: u64, cap: usize, chunk: usize) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            offset,
            cap,
            chunk: chunk.max(1),
            skipping: None,
            ended: false,
        }
    }

    /// File offset of the first byte not handed out yet.
    pub fn offset(&self) -> u64 {
        self.skipping.unwrap_or(self.offset)
    }

    /// The next complete line, or `None` when the source has no further `\n` for now.
    ///
    /// # Errors
    /// What the source reports; the reader can be asked again.
    pub fn next_piece(&mut self) -> io::Result<Option<Piece<'_>>> {
        loop {
            if let Some(end) = self.find_end() {
                return Ok(Some(self.take_line(end)));
            }
            self.skip_if_over_cap();
            if self.fill()? == 0 {
                self.ended = true;
                return Ok(None);
            }
        }
    }

    /// What stands after the last `\n`, once the source has ended; empty when nothing does.
    /// `None` while inside a line over the cap.
    pub fn rest(&self) -> Option<(u64, &[u8])> {
        if self.skipping.is_some() {
            return None;
        }
        Some((self.offset, self.buffer.get(self.start..).unwrap_or_default()))
    }

    /// A line over the cap that the source ended in: its offset and the bytes seen of it.
    pub fn rest_over_cap(&self) -> Option<(u64, u64)> {
        let first = self.skipping?;
        let pending = (self.buffer.len() - self.start) as u64;
        Some((first, self.offset - first + pending))
    }

    fn find_end(&mut self) -> Option<usize> {
        let from = self.searched.max(self.start);
        let found = memchr(b'\n', self.buffer.get(from..)?);
        self.searched = self.buffer.len();
        found.map(|at| from + at)
    }

    fn take_line(&mut self, end: usize) -> Piece<'_> {
        let start = self.start;
        let first = self.offset;
        self.offset += (end - start + 1) as u64;
        self.start = end + 1;
        self.searched = self.start;
        if let Some(skipped) = self.skipping.take() {
            return Piece::TooLong { offset: skipped, length: self.offset - 1 - skipped };
        }
        if end - start > self.cap {
            return Piece::TooLong { offset: first, length: (end - start) as u64 };
        }
        Piece::Line { offset: first, bytes: self.buffer.get(start..end).unwrap_or_default() }
    }

    /// Lets go of the bytes of a line that is over the cap already.
    fn skip_if_over_cap(&mut self) {
        let pending = self.buffer.len() - self.start;
        if self.skipping.is_none() && pending > self.cap {
            self.skipping = Some(self.offset);
        }
        if self.skipping.is_some() {
            self.offset += pending as u64;
            self.buffer.clear();
            self.start = 0;
            self.searched = 0;
            self.buffer.shrink_to(self.chunk);
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        if self.buffer.capacity() > 4 * self.chunk && self.buffer.len() < self.chunk {
            self.buffer.shrink_to(2 * self.chunk);
        }
        let before = self.buffer.len();
        self.buffer.reserve(self.chunk);
        let chunk = self.chunk as u64;
        loop {
            match (&mut self.source).take(chunk).read_to_end(&mut self.buffer) {
                Ok(_) => return Ok(self.buffer.len() - before),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Whether the source said that it has no more bytes when last asked.
    pub fn ended(&self) -> bool {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collect(bytes: &[u8], cap: usize, chunk: usize) -> Vec<(u64, Result<Vec<u8>, u64>)> {
        let mut lines = Lines::new(bytes, 0, cap, chunk);
        let mut out = Vec::new();
        while let Some(piece) = lines.next_piece().unwrap() {
            out.push(match piece {
                Piece::Line { offset, bytes } => (offset, Ok(bytes.to_vec())),
                Piece::TooLong { offset, length } => (offset, Err(length)),
            });
        }
        out
    }

    #[test]
    fn carriage_returns_bom_nul_and_blank_lines_do_not_shift_offsets() {
        let got = collect(b"\xef\xbb\xbfa\r\n\n\0\0b\nrest", 100, 3);
        let offsets: Vec<u64> = got.iter().map(|(o, _)| *o).collect();
        assert_eq!(offsets, [0, 6, 7]);
        assert_eq!(got[0].1, Ok(b"\xef\xbb\xbfa\r".to_vec()));
    }

    #[test]
    fn a_line_over_the_cap_is_located_and_its_neighbours_arrive() {
        let mut bytes = b"one\n".to_vec();
        bytes.extend(vec![b'x'; 1000]);
        bytes.extend(b"\ntwo\n");
        let got = collect(&bytes, 50, 16);
        assert_eq!(got[1], (4, Err(1000)));
        assert_eq!(got[2], (1005, Ok(b"two".to_vec())));
    }

    #[test]
    fn a_line_without_its_end_is_withheld_and_can_be_asked_for() {
        let mut lines = Lines::new(&b"a\nbc"[..], 0, 100, 64);
        assert!(lines.next_piece().unwrap().is_some());
        assert!(lines.next_piece().unwrap().is_none());
        assert_eq!(lines.rest(), Some((2, &b"bc"[..])));
    }

    #[test]
    fn an_unended_line_over_the_cap_reports_where_it_began() {
        let mut lines = Lines::new(&b"a\nxxxxxxxxxxxxxxxxxxxxxxxx"[..], 0, 4, 5);
        assert!(lines.next_piece().unwrap().is_some());
        assert!(lines.next_piece().unwrap().is_none());
        assert_eq!(lines.rest(), None);
        assert_eq!(lines.rest_over_cap(), Some((2, 24)));
        assert_eq!(lines.offset(), 2);
    }

    proptest! {
        #[test]
        fn any_chunk_size_gives_the_same_lines(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            chunk in 1usize..40,
            cap in 1usize..60,
        ) {
            let whole = collect(&bytes, cap, 4096);
            prop_assert_eq!(collect(&bytes, cap, chunk), whole.clone());
            let expected: Vec<(u64, usize)> = {
                let mut at = 0;
                let mut out = Vec::new();
                let mut parts: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
                parts.pop();
                for part in parts {
                    out.push((at, part.len()));
                    at += part.len() as u64 + 1;
                }
                out
            };
            let got: Vec<(u64, usize)> = whole
                .iter()
                .map(|(o, r)| (*o, match r { Ok(l) => l.len(), Err(n) => *n as usize }))
                .collect();
            prop_assert_eq!(got, expected);
        }
    }
}
