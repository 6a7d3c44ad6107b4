//! Lines cover the input exactly, whatever the chunk size and the cap.
#![no_main]
use fornax::base::lines::{Lines, Piece};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Vec<u8>)| {
    let (chunk, cap, input) = input;
    let mut lines = Lines::new(&input[..], 0, usize::from(cap), usize::from(chunk));
    let mut at = 0;
    while let Some(piece) = lines.next_piece().unwrap() {
        let (offset, length) = match piece {
            Piece::Line { offset, bytes } => {
                assert_eq!(input.get(at..at + bytes.len()), Some(bytes));
                (offset, bytes.len())
            }
            Piece::TooLong { offset, length } => {
                assert!(length > u64::from(cap));
                (offset, length as usize)
            }
        };
        assert_eq!(offset, at as u64);
        assert!(!input[at..at + length].contains(&b'\n'));
        assert_eq!(input.get(at + length), Some(&b'\n'));
        at += length + 1;
    }
    assert!(at <= input.len() && !input[at..].contains(&b'\n'));
});
