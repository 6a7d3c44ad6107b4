//! Makes synthetic histories to measure with: the same seed gives the same bytes.
//!
//! ```text
//! generate_history tree FOLDER MEGABYTES [SEED]      a history of many files
//! generate_history single FILE MEGABYTES [SEED]      one transcript
//! generate_history long-line FILE BYTES [SEED]       a transcript with one long line
//! generate_history journal HOME PAYLOADS [SEED]      a home with a journal to drain
//! ```

mod history;
mod journal;
mod shapes;
mod words;

use history::Maker;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut args = args.iter().map(String::as_str);
    let (Some(what), Some(path), Some(amount)) = (args.next(), args.next(), args.next()) else {
        return Err(io::Error::other(
            "usage: generate_history tree|single|long-line|journal PATH AMOUNT [SEED]",
        ));
    };
    let amount: u64 = amount.parse().map_err(io::Error::other)?;
    let seed: u64 = args.next().map_or(Ok(1), str::parse).map_err(io::Error::other)?;
    let path = Path::new(path);
    match what {
        "tree" => Maker::new(seed).tree(path, amount * 1_000_000),
        "single" => Maker::new(seed).single(path, amount * 1_000_000),
        "long-line" => Maker::new(seed).long_line(path, amount),
        "journal" => journal::fill(path, amount, seed),
        other => Err(io::Error::other(format!("{other} is nothing that can be made"))),
    }
}
