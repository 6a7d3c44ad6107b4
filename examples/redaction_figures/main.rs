//! Figures of redaction over a folder of JSON lines: how much is cut out, by kind, per megabyte.
//!
//! `cargo run --example redaction_figures -- FOLDER [show KIND]`. With `show` each text around a marker
//! of that kind is printed, the secret itself gone, for judging by eye.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use fornax::app::redact;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// Characters shown on each side of a marker.
const AROUND: usize = 60;

/// Counts by kind, and what to print.
#[derive(Default)]
struct Figures {
    bytes: u64,
    strings: u64,
    by_kind: BTreeMap<String, u64>,
    show: Option<String>,
}

impl Figures {
    fn file(&mut self, path: &Path) -> std::io::Result<()> {
        let mut line = Vec::new();
        let mut input = BufReader::new(std::fs::File::open(path)?);
        while input.read_until(b'\n', &mut line)? > 0 {
            self.bytes += line.len() as u64;
            if let Ok(value) = serde_json::from_slice::<Value>(&line) {
                self.value(value);
            }
            line.clear();
        }
        Ok(())
    }

    /// Counts the markers that redaction adds, with what keys say of their values.
    fn value(&mut self, mut value: Value) {
        let before = kinds(&value.to_string());
        redact::value(&mut value);
        let text = value.to_string();
        self.strings += 1;
        for (kind, count) in kinds(&text) {
            let added = count.saturating_sub(before.get(&kind).copied().unwrap_or_default());
            *self.by_kind.entry(kind).or_default() += added;
        }
        let Some(wanted) = self.show.as_deref() else { return };
        let marker = format!("[REDACTED:{wanted}]");
        for (at, _) in text.match_indices(&marker) {
            let from = text.floor_char_boundary(at.saturating_sub(AROUND));
            let to = text.ceil_char_boundary((at + marker.len() + AROUND).min(text.len()));
            println!("{}", text.get(from..to).unwrap_or_default());
        }
    }
}

fn kinds(text: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for part in text.split("[REDACTED:").skip(1) {
        if let Some((kind, _)) = part.split_once(']') {
            *found.entry(kind.to_owned()).or_default() += 1;
        }
    }
    found
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            out.push(path);
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = args.first() else {
        eprintln!("usage: redaction_figures FOLDER [show KIND]");
        return;
    };
    let mut figures = Figures { show: args.get(2).cloned(), ..Figures::default() };
    let mut found = Vec::new();
    files(Path::new(folder), &mut found);
    found.sort();
    for path in found {
        if let Err(error) = figures.file(&path) {
            eprintln!("{}: {error}", path.display());
        }
    }
    if figures.show.is_some() {
        return;
    }
    let megabytes = figures.bytes as f64 / 1e6;
    println!("{megabytes:.1} MB, {} lines", figures.strings);
    for (kind, count) in &figures.by_kind {
        println!("{kind:24} {count:8} {:8.3} per MB", *count as f64 / megabytes);
    }
}
