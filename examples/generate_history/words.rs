//! Seeded chance, and text made of invented words.
//!
//! Text is drawn once into pools and handed out in slices: a pool is already escaped for JSON, and
//! no slice ends inside an escape.

/// Bytes of each pool.
const POOL_BYTES: usize = 4 * 1024 * 1024;
const SYLLABLES: [&str; 24] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va",
    "we", "xi", "yo", "zu", "sta", "bre", "qui", "plo",
];
const HEX: &[u8; 16] = b"0123456789abcdef";
const ALNUM: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// SplitMix64: small, and the same everywhere.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound` (0 for 0).
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// `length` characters of an alphabet.
    pub fn letters(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(pick(alphabet, self.next()))).collect()
    }

    pub fn hex(&mut self, length: usize) -> String {
        self.letters(HEX, length)
    }

    pub fn alnum(&mut self, length: usize) -> String {
        self.letters(ALNUM.get(..62).unwrap_or_default(), length)
    }

    pub fn uuid(&mut self) -> String {
        let h = |c: &mut Self, n| c.hex(n);
        format!("{}-{}-4{}-a{}-{}", h(self, 8), h(self, 4), h(self, 3), h(self, 3), h(self, 12))
    }

    pub fn word(&mut self) -> String {
        let parts = 1 + self.below(4);
        (0..parts).map(|_| *SYLLABLES.get(self.below(SYLLABLES.len())).unwrap_or(&"o")).collect()
    }
}

fn pick(alphabet: &[u8], number: u64) -> u8 {
    let at = (number >> 20) as usize % alphabet.len().max(1);
    alphabet.get(at).copied().unwrap_or(b'x')
}

/// What a filling looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Prose,
    Code,
    Output,
    Base64,
}

/// Text to cut slices from.
pub struct Pools {
    prose: String,
    code: String,
    output: String,
    base64: String,
}

impl Pools {
    pub fn new(chance: &mut Chance) -> Self {
        let words: Vec<String> = (0..3_000).map(|_| chance.word()).collect();
        Self {
            prose: fill(chance, &words, prose_line),
            code: fill(chance, &words, code_line),
            output: fill(chance, &words, output_line),
            base64: chance.letters(ALNUM, POOL_BYTES),
        }
    }

    /// Appends about `length` bytes of a style.
    pub fn append(&self, out: &mut String, style: Style, length: usize, chance: &mut Chance) {
        let pool = match style {
            Style::Prose => &self.prose,
            Style::Code => &self.code,
            Style::Output => &self.output,
            Style::Base64 => &self.base64,
        };
        let mut left = length;
        while left > 0 {
            let from = chance.below(pool.len() / 2);
            let mut rest = pool.get(from..).unwrap_or_default();
            if style != Style::Base64 {
                // Behind the next line break, so that a slice does not begin inside an escape.
                rest = rest.find("\\n").and_then(|at| rest.get(at + 2..)).unwrap_or(rest);
            }
            let mut take = left.min(rest.len());
            while take > 0 && rest.as_bytes().get(take - 1) == Some(&b'\\') {
                take -= 1;
            }
            if take == 0 {
                return;
            }
            out.push_str(rest.get(..take).unwrap_or_default());
            left -= take;
        }
    }
}

/// Lines of one kind until the pool is full.
fn fill(
    chance: &mut Chance,
    words: &[String],
    line: fn(&mut Chance, &[String]) -> String,
) -> String {
    let mut pool = String::with_capacity(POOL_BYTES + 200);
    while pool.len() < POOL_BYTES {
        pool.push_str(&line(chance, words));
        pool.push_str("\\n");
    }
    pool
}

fn one_of<'a>(chance: &mut Chance, words: &'a [String]) -> &'a str {
    words.get(chance.below(words.len())).map_or("", String::as_str)
}

fn prose_line(chance: &mut Chance, words: &[String]) -> String {
    let mut line = String::new();
    for nth in 0..8 + chance.below(16) {
        if nth > 0 {
            line.push_str(if chance.below(12) == 0 { ", " } else { " " });
        }
        line.push_str(one_of(chance, words));
    }
    line.push('.');
    line
}

fn code_line(chance: &mut Chance, words: &[String]) -> String {
    let indent = "    ".repeat(chance.below(4));
    let (a, b, c) = (one_of(chance, words), one_of(chance, words), one_of(chance, words));
    let number = chance.below(10_000);
    match chance.below(8) {
        0 => format!("{indent}let {a}_{b} = {c}::{a}({number})?;"),
        1 => format!("{indent}// {a} {b} {c} {}", one_of(chance, words)),
        2 => format!("{indent}\\\"{a}-{b}\\\": \\\"{c}/{b}.{a}\\\","),
        3 => format!("{indent}if {a}.{b}() == Some(&{c}) {{"),
        4 => format!("{indent}}}"),
        5 => format!("{indent}self.{a}.{b}({c}, {number}).map(|{a}| {a}.{c})"),
        6 => format!("use crate::{a}::{b}::{{{c}, {b}}};"),
        _ => String::new(),
    }
}

fn output_line(chance: &mut Chance, words: &[String]) -> String {
    let (a, b) = (one_of(chance, words), one_of(chance, words));
    match chance.below(8) {
        0 => format!(
            "{}  {a}/{b}.rs:{}: {}",
            chance.hex(8),
            chance.below(900),
            one_of(chance, words)
        ),
        1 => format!(
            "-rw-r--r-- 1 {a} {b} {} Nov 12 10:{:02} {b}.txt",
            chance.below(90_000),
            chance.below(60)
        ),
        2 => format!("test {a}::{b}::{} ... ok", one_of(chance, words)),
        3 => format!("   Compiling {a}-{b} v0.{}.{}", chance.below(30), chance.below(12)),
        4 => {
            format!("warning: unused {a}: `{b}` at /home/{a}/src/{b}/{}.rs", one_of(chance, words))
        }
        5 => format!("commit {} {a} {b}", chance.hex(40)),
        6 => format!(
            "{:>6}  {a} {b} {} {}",
            chance.below(2_000),
            one_of(chance, words),
            one_of(chance, words)
        ),
        _ => prose_line(chance, words),
    }
}
