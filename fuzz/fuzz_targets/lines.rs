//! Lines cover the input exactly, whatever the chunk size and the cap.
#![no_main]
use fornax::base::lines::{Lines, Piece};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Vec<u8>)| {
    let (chunk, cap, bytes) = input;
    let mut lines = Lines::new(&bytes[..], 0, usize::from(cap), usize::from(chunk));
    let mut at = 0;
    while let Some(piece) = lines.next_piece().unwrap() {
        let (offset, length) = match piece {
            Piece::Line { offset, bytes } => (offset, bytes.len() as u64),
            Piece::TooLong { offset, length } => (offset, length),
        };
        assert_eq!(offset, at);
        at += length + 1;
    }
    assert!(at <= bytes.len() as u64);
});
