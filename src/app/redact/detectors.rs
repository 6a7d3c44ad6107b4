//! The shapes of issued secrets: vendor prefixes as a table, and JSON web tokens.
//!
//! A row says how a token begins, what may follow, and how much of it must. Prefixes are those the
//! vendors document for their secret scanning. A failed match looks at no more than a row's
//! minimum, so a search stays linear whatever the text.

use super::bytes::{
    ALNUM, DIGIT, HEX, LETTER, LOWER, MARK, UPPER, WORD, all, any, at, from, is, slice, span,
    starts_token,
};

/// One kind of issued secret.
struct Vendor {
    prefix: &'static str,
    kind: &'static str,
    /// Classes of the bytes after the prefix.
    body: u8,
    /// How many of them there are at least.
    least: usize,
    /// What else must hold.
    rule: Rule,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The prefix is unmistakable: it counts in the middle of a word too.
    Anywhere,
    /// The prefix must begin a token.
    Start,
    /// As `Start`, and the body has exactly the minimal length.
    Exact,
    /// As `Start`, and the front of the body holds a digit and a letter.
    Mixed,
}

const fn row(
    prefix: &'static str,
    kind: &'static str,
    body: u8,
    least: usize,
    rule: Rule,
) -> Vendor {
    Vendor { prefix, kind, body, least, rule }
}

const DOTTED: u8 = WORD | MARK;

/// Sorted by first byte, so that one byte of text selects its rows.
static VENDORS: &[Vendor] = &[
    row("AGE-SECRET-KEY-1", "age_key", ALNUM, 30, Rule::Anywhere),
    row("AIza", "google_key", WORD, 35, Rule::Start),
    row("AKIA", "aws_key", UPPER | DIGIT, 16, Rule::Exact),
    row("ASIA", "aws_key", UPPER | DIGIT, 16, Rule::Exact),
    row("ATATT3", "atlassian_token", WORD, 40, Rule::Start),
    row("EAA", "facebook_token", ALNUM, 60, Rule::Start),
    row("GOCSPX-", "google_key", WORD, 20, Rule::Anywhere),
    row("PMAK-", "postman_key", WORD, 30, Rule::Start),
    row("SG.", "sendgrid_key", DOTTED, 40, Rule::Mixed),
    row("age-secret-key-1", "age_key", ALNUM, 30, Rule::Anywhere),
    row("discord.com/api/webhooks/", "discord_webhook", DOTTED, 20, Rule::Anywhere),
    row("discordapp.com/api/webhooks/", "discord_webhook", DOTTED, 20, Rule::Anywhere),
    row("dckr_pat_", "docker_token", WORD, 20, Rule::Anywhere),
    row("dop_v1_", "digitalocean_token", HEX, 40, Rule::Anywhere),
    row("figd_", "figma_token", WORD, 30, Rule::Start),
    row("ghp_", "github_token", ALNUM, 30, Rule::Anywhere),
    row("gho_", "github_token", ALNUM, 30, Rule::Anywhere),
    row("ghu_", "github_token", ALNUM, 30, Rule::Anywhere),
    row("ghs_", "github_token", ALNUM, 30, Rule::Anywhere),
    row("ghr_", "github_token", ALNUM, 30, Rule::Anywhere),
    row("github_pat_", "github_token", WORD, 30, Rule::Anywhere),
    row("glpat-", "gitlab_token", WORD, 20, Rule::Anywhere),
    row("glrt-", "gitlab_token", WORD, 20, Rule::Mixed),
    row("gsk_", "groq_key", ALNUM, 40, Rule::Start),
    row("hf_", "huggingface_token", ALNUM, 30, Rule::Start),
    row("hooks.slack.com/services/", "slack_webhook", DOTTED, 20, Rule::Anywhere),
    row("hvs.", "vault_token", WORD, 24, Rule::Start),
    row("key-", "mailgun_key", HEX, 32, Rule::Exact),
    row("lin_api_", "linear_key", ALNUM, 30, Rule::Start),
    row("npm_", "npm_token", ALNUM, 36, Rule::Start),
    row("nvapi-", "nvidia_key", WORD, 40, Rule::Start),
    row("pk_live_", "stripe_key", ALNUM, 16, Rule::Anywhere),
    row("pplx-", "perplexity_key", ALNUM, 40, Rule::Start),
    row("pypi-", "pypi_token", WORD, 50, Rule::Start),
    row("r8_", "replicate_token", ALNUM, 37, Rule::Start),
    row("rk_live_", "stripe_key", ALNUM, 16, Rule::Anywhere),
    row("sbp_", "supabase_token", HEX, 40, Rule::Start),
    row("shpat_", "shopify_token", HEX, 32, Rule::Anywhere),
    row("shpca_", "shopify_token", HEX, 32, Rule::Anywhere),
    row("shppa_", "shopify_token", HEX, 32, Rule::Anywhere),
    row("shpss_", "shopify_token", HEX, 32, Rule::Anywhere),
    row("sk-ant-", "anthropic_key", WORD, 16, Rule::Anywhere),
    row("sk-proj-", "openai_key", WORD, 20, Rule::Anywhere),
    row("sk-", "openai_key", WORD, 20, Rule::Mixed),
    row("sk_live_", "stripe_key", ALNUM, 16, Rule::Anywhere),
    row("sk_test_", "stripe_key", ALNUM, 16, Rule::Anywhere),
    row("sntrys_", "sentry_token", WORD | MARK, 40, Rule::Start),
    row("sq0atp-", "square_token", WORD, 22, Rule::Anywhere),
    row("sq0csp-", "square_token", WORD, 40, Rule::Anywhere),
    row("tskey-", "tailscale_key", WORD, 20, Rule::Mixed),
    row("whsec_", "stripe_key", ALNUM | MARK, 24, Rule::Start),
    row("xai-", "xai_key", ALNUM, 60, Rule::Start),
    row("xapp-", "slack_token", WORD, 20, Rule::Mixed),
    row("xoxa-", "slack_token", WORD, 10, Rule::Mixed),
    row("xoxb-", "slack_token", WORD, 10, Rule::Mixed),
    row("xoxe-", "slack_token", WORD, 10, Rule::Mixed),
    row("xoxe.", "slack_token", WORD, 20, Rule::Mixed),
    row("xoxp-", "slack_token", WORD, 10, Rule::Mixed),
    row("xoxr-", "slack_token", WORD, 10, Rule::Mixed),
    row("xoxs-", "slack_token", WORD, 10, Rule::Mixed),
    row("ya29.", "google_token", DOTTED, 20, Rule::Start),
];

/// How much of a body `Rule::Mixed` looks at.
const MIXED_PROBE: usize = 64;

/// The shortest text that any row, or a web token, can match.
pub(super) const SHORTEST: usize = 15;

/// Classes that no prefix is made of alone, nor that of a web token: a run of these only holds
/// none.
pub(super) const IN_NO_PREFIX: u8 = LOWER | HEX;

/// The rows whose prefix begins with one byte.
#[derive(Clone, Copy)]
struct Rows {
    start: u8,
    end: u8,
}

static ROWS: [Rows; 256] = rows();

#[expect(clippy::indexing_slicing, reason = "runs at compile time; out of range does not build")]
const fn rows() -> [Rows; 256] {
    let mut table = [Rows { start: 0, end: 0 }; 256];
    let mut i = 0;
    while i < VENDORS.len() {
        let prefix = VENDORS[i].prefix.as_bytes();
        assert!(!is_lower(prefix), "a prefix of lower-case letters would be passed over");
        let rows = &mut table[prefix[0] as usize];
        if rows.end == 0 {
            rows.start = i as u8;
        }
        assert!(rows.end == 0 || rows.end as usize == i, "rows out of order");
        rows.end = i as u8 + 1;
        i += 1;
    }
    table
}

/// For each first byte the low five bits of the prefixes' second bytes, as a set: most candidates
/// end here.
static SECONDS: [u32; 256] = seconds();

#[expect(clippy::indexing_slicing, reason = "runs at compile time; out of range does not build")]
const fn seconds() -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < VENDORS.len() {
        let prefix = VENDORS[i].prefix.as_bytes();
        table[prefix[0] as usize] |= 1 << (prefix[1] & 31);
        i += 1;
    }
    table[b'e' as usize] |= 1 << (b'y' & 31);
    table
}

const fn is_lower(mut bytes: &[u8]) -> bool {
    while let [first, rest @ ..] = bytes {
        if !first.is_ascii_lowercase() {
            return false;
        }
        bytes = rest;
    }
    true
}

/// Where an issued secret stands, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

/// The first issued secret that begins in `start..end`, which lies within one run of `bytes`.
pub(super) fn first(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let mut next = start;
    while let Some(gap) = candidate(slice(bytes, next, end)) {
        let at = next + gap;
        let found = match bytes.get(at) {
            Some(b'e') => web_token(bytes, at, end),
            Some(&byte) => {
                ROWS.get(usize::from(byte)).and_then(|rows| vendor(bytes, at, end, *rows))
            }
            None => None,
        };
        if found.is_some() {
            return found;
        }
        next = at + 1;
    }
    None
}

/// Where the first two bytes of some prefix stand.
fn candidate(run: &[u8]) -> Option<usize> {
    let pairs = run.iter().zip(run.iter().skip(1));
    let may_begin = |first: u8, second: u8| {
        SECONDS.get(usize::from(first)).is_some_and(|set| set >> (second & 31) & 1 != 0)
    };
    pairs.into_iter().position(|(&first, &second)| may_begin(first, second))
}

fn vendor(bytes: &[u8], start: usize, end: usize, rows: Rows) -> Option<Found> {
    let text = slice(bytes, start, end);
    let rows = VENDORS.get(usize::from(rows.start)..usize::from(rows.end))?;
    rows.iter().find_map(|row| {
        let body = text.strip_prefix(row.prefix.as_bytes())?;
        body.get(..row.least).filter(|least| all(least, row.body))?;
        if !row.rule.holds(bytes, start, body, row) {
            return None;
        }
        let end = start + row.prefix.len() + span(body, row.body);
        Some(Found { start, end, kind: row.kind })
    })
}

impl Rule {
    /// Whether the rule holds for a body that matched; looks at a bounded part of it.
    fn holds(self, bytes: &[u8], start: usize, body: &[u8], row: &Vendor) -> bool {
        match self {
            Rule::Anywhere => true,
            Rule::Start => starts_token(bytes, start),
            Rule::Exact => !is(at(body, row.least), ALNUM) && starts_token(bytes, start),
            Rule::Mixed => {
                let probe = slice(body, 0, MIXED_PROBE);
                let probe = slice(probe, 0, span(probe, row.body));
                any(probe, DIGIT) && any(probe, LETTER) && starts_token(bytes, start)
            }
        }
    }
}

/// A JSON web token: `eyJ`, two or more segments of base64url with dots between.
fn web_token(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    const SEGMENT: usize = 8;
    const HEADER_MAX: usize = 1024;
    let text = slice(bytes, start, end);
    let body = text.strip_prefix(b"eyJ")?;
    if !starts_token(bytes, start) {
        return None;
    }
    let header = span(slice(body, 0, HEADER_MAX), WORD);
    let payload = from(body, header).strip_prefix(b".")?;
    let length = span(payload, WORD);
    let signed = at(payload, length) == b'.';
    if header < SEGMENT || length < SEGMENT || !(signed || payload.starts_with(b"eyJ")) {
        return None;
    }
    let extent = span(text, WORD | MARK);
    let dots = slice(text, 0, extent).iter().rev().take_while(|&&byte| byte == b'.').count();
    Some(Found { start, end: start + extent - dots, kind: "jwt" })
}
