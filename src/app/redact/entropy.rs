//! Tokens that look drawn at random, whoever issued them.
//!
//! Entropy alone does not tell `getUserAccountSettings2` from twenty random letters, and a record
//! of coding work is full of names, paths, hashes and ids. So a token is first cut at its
//! separators, the parts that a reader would recognise (words, hex, numbers) are set aside, and
//! what is left must be long enough, change character class as often as random text does, and
//! pass the entropy threshold.

use super::bytes::{DIGIT, HEX, JOIN, LETTER, LOWER, MARK, UPPER, all, any, at, is, slice};

/// Shorter tokens hold too little to judge.
pub(super) const LEAST: usize = 20;
/// Longer ones are data, not credentials.
pub(super) const MOST: usize = 200;

/// Words at least this long make a token a path or a name.
const NAME_LEAST: usize = 4;
/// What must be left after the recognisable parts are set aside.
const LEAST_LEFT: usize = 16;
/// The least bits a character, times the bits that the length allows at most.
const SHARE_OF_POSSIBLE: f32 = 0.80;
/// A random mix changes piece (word, number, capitals) at least this often: once in so many bytes.
const MOST_A_PIECE: f32 = 3.2;

/// The most of a random mix that reads like words; names are above, random letters far below.
const MOST_WORDED: f32 = 0.42;

/// Ids that providers put on calls, messages and responses: random, public, and needed to join.
const IDS: &[&str] = &[
    "toolu_",
    "srvtoolu_",
    "call_",
    "msg_",
    "req_",
    "resp_",
    "rs_",
    "fc_",
    "item_",
    "chatcmpl-",
    "cmpl-",
    "ws_",
    "ctc_",
    "fco_",
    "cus_",
    "run_",
    "thread_",
    "asst_",
    "file-",
    "file_",
    "gen-",
    "mcpr_",
    "mcp_",
    "ig_",
    "ci_",
    "batch_",
    "org-",
    "proj_",
    "user-",
    "turn_",
    "session_",
    "conv_",
    "prt_",
    "ses_",
    "evt_",
    "container_",
    "skill_",
    "wrkfl_",
    "task_",
    "agent_",
];

/// Digests that say so: integrity attributes and mangled names.
const DIGESTS: &[&str] =
    &["sha1-", "sha256-", "sha384-", "sha512-", "sha256/", "md5-", "_ZN", "ZN", "_R", "__ZN", "0x"];

/// Public keys: the first bytes of their SSH and DER encodings in base64.
const PUBLIC_KEYS: &[&str] =
    &["AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "MFkwEwYH", "MCowBQYD"];

/// What stands before a digest that does not say so itself: `h1:` in go.sum, key fingerprints.
const BEFORE_DIGESTS: &[&str] =
    &["h1:", "SHA256:", "sha256:", "sha512:", "sha384:", "MD5:", "sha256=", "sha384=", "sha512="];

/// Whether the token `bytes[start..end]` looks random and is no id or digest.
pub(super) fn is_secret(bytes: &[u8], start: usize, end: usize) -> bool {
    let token = trim(slice(bytes, start, end));
    if !(LEAST..=MOST).contains(&token.len()) || !any(token, DIGIT) || !any(token, UPPER) {
        return false;
    }
    let named = |names: &[&str]| names.iter().any(|name| token.starts_with(name.as_bytes()));
    let before = slice(bytes, start.saturating_sub(8), start);
    let node_id = token.windows(5).take(5).any(|window| window == b"_kwDO");
    let labelled = BEFORE_DIGESTS.iter().any(|label| before.ends_with(label.as_bytes()));
    let address = before.ends_with(b":") && slice(bytes, start, end).starts_with(b"//");
    let public =
        address || node_id || labelled || named(IDS) || named(DIGESTS) || named(PUBLIC_KEYS);
    !public && is_random(token)
}

/// Whether what a reader would not recognise in `token` looks random. The segments of a path,
/// the members of a name, are judged one by one: each is a name of its own.
pub(super) fn is_random(token: &[u8]) -> bool {
    let mut segments = token.split(|&byte| matches!(byte, b'/' | b'.'));
    let is_name = |segment: &[u8]| segment.len() >= NAME_LEAST && is_recognisable(segment);
    if segments.clone().any(|segment| segment.split(|&b| is(b, JOIN | MARK)).any(is_name)) {
        return segments.any(|segment| segment.len() >= LEAST && Left::of(segment).is_random());
    }
    Left::of(token).is_random()
}

/// Words, numbers, hex and dates: what people and tools name things with.
fn is_recognisable(part: &[u8]) -> bool {
    if part.len() < 2 || all(part, DIGIT) || all(part, UPPER) {
        return true;
    }
    if all(part, HEX) && part.len() >= 4 && !(any(part, UPPER) && any(part, LOWER)) {
        return true;
    }
    if !any(part, UPPER) {
        return all(part, LOWER) || part.len() < 12;
    }
    let long_pieces = pieces(part) as f32 * MOST_A_PIECE <= part.len() as f32;
    let camel = all(part, LETTER) && long_pieces;
    let time = is(at(part, 0), DIGIT) && part.len() <= 8;
    camel || time
}

/// How many words, numbers and runs of capitals a part is made of; a capital may begin a word.
fn pieces(part: &[u8]) -> usize {
    let boundary = |pair: &[u8]| {
        let &[left, right] = pair else { return false };
        match (is(left, UPPER), is(left, LOWER)) {
            (true, _) => !is(right, UPPER | LOWER),
            (_, true) => !is(right, LOWER),
            _ => !is(right, DIGIT),
        }
    };
    1 + part.windows(2).filter(|pair| boundary(pair)).count()
}

/// The parts of a token that are not recognisable.
struct Left {
    counts: [u8; 128],
    length: usize,
    pieces: usize,
    /// Bytes in stretches of three or more lower-case letters.
    worded: usize,
}

impl Left {
    fn of(token: &[u8]) -> Left {
        let mut left = Left { counts: [0; 128], length: 0, pieces: 0, worded: 0 };
        for part in token.split(|&byte| is(byte, JOIN | MARK)) {
            if !is_recognisable(part) {
                left.add(part);
            }
        }
        left
    }

    fn add(&mut self, part: &[u8]) {
        self.length += part.len();
        self.pieces += pieces(part);
        for &byte in part {
            if let Some(count) = self.counts.get_mut(usize::from(byte)) {
                *count = count.saturating_add(1);
            }
        }
        let words = part.split(|&byte| !is(byte, LOWER));
        self.worded += words.map(<[u8]>::len).filter(|&length| length >= 3).sum::<usize>();
    }

    fn is_random(&self) -> bool {
        let has = |mask| self.counts.iter().zip(0u8..).any(|(&n, b)| n > 0 && is(b, mask));
        self.length >= LEAST_LEFT
            && self.worded as f32 <= self.length as f32 * MOST_WORDED
            && self.length as f32 <= self.pieces as f32 * MOST_A_PIECE
            && has(UPPER)
            && has(LOWER)
            && has(DIGIT)
            && self.bits() >= SHARE_OF_POSSIBLE * (self.length.min(62) as f32).log2()
    }

    /// Shannon entropy in bits a character.
    fn bits(&self) -> f32 {
        let total = self.length as f32;
        let used = self.counts.iter().filter(|&&count| count > 0);
        used.map(|&count| {
            let share = f32::from(count) / total;
            -share * share.log2()
        })
        .sum()
    }
}

/// A token without the separators at its ends: the full stop of a sentence, the slash of a path.
fn trim(mut token: &[u8]) -> &[u8] {
    while let [rest @ .., last] = token
        && is(*last, JOIN | MARK)
    {
        token = rest;
    }
    while let [first, rest @ ..] = token
        && is(*first, MARK)
    {
        token = rest;
    }
    token
}
