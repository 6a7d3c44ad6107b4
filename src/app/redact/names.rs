//! Which names promise a secret as their value: object keys, variables, flags, headers.
//!
//! A name is read as words from its end (`dbPassword`, `DB_PASSWORD`, `db-password` end in the
//! word `password`), so that counters and relatives stay out: `max_tokens` ends in `tokens`,
//! `token_count` in `count`, `access_key_id` in `id`. No allocation, no case folding of the text.

use super::bytes::{DIGIT, JOIN, LOWER, UPPER, at, is, one_of, slice};

/// How sure a name is about its value being a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Promise {
    /// `token`, `cookie`: also words of parsers and kitchens.
    Weak,
    /// `password`, `api_key`, `GITHUB_TOKEN`.
    Strong,
}

/// Longer names are not looked at; their end is.
pub(super) const NAME_MAX: usize = 64;

/// Words that say which one, not what: skipped at the end of a name (`API_KEY_PROD`, `TOKEN_2`).
const QUALIFIERS: &[&str] =
    &["prod", "production", "dev", "staging", "test", "base", "value", "old", "new", "default"];

/// A `key` is secret after one of these words only.
const KEY_OF: &[&str] = &[
    "api",
    "apis",
    "access",
    "private",
    "secret",
    "auth",
    "signing",
    "encryption",
    "master",
    "account",
    "storage",
    "service",
    "license",
    "deploy",
    "consumer",
    "client",
    "hmac",
    "admin",
    "anthropic",
    "openai",
];

/// A `token` is none of ours after one of these words: pagination, tokenizers, parsers.
const TOKEN_OTHER: &[&str] = &[
    "next",
    "page",
    "continuation",
    "eos",
    "bos",
    "pad",
    "unk",
    "mask",
    "sep",
    "cls",
    "stop",
    "special",
    "cancel",
    "cancellation",
    "max",
    "min",
    "per",
    "input",
    "output",
    "prompt",
    "start",
    "end",
    "last",
    "first",
    "current",
    "prev",
    "previous",
    "image",
    "sync",
    "text",
    "parser",
    "syntax",
    "unexpected",
    "reasoning",
    "cached",
    "this",
    "is",
    "each",
    "every",
    "open",
    "close",
];

/// Whether `name` promises a secret, and how surely.
pub(super) fn promise(name: &[u8]) -> Option<Promise> {
    let (mut rest, mut word) = last_word(name);
    while one_of(word, QUALIFIERS) && !rest.is_empty() {
        (rest, word) = last_word(rest);
    }
    match word.last().map(u8::to_ascii_lowercase)? {
        b'd' | b'e' | b'l' | b'n' | b's' | b't' | b'y' | b'h' => {}
        _ => return None,
    }
    if ends_with(word, "password") || ends_with(word, "passwd") || ends_with(word, "passphrase") {
        return Some(Promise::Strong);
    }
    // How far a person allowed something, in words.
    if one_of(word, &["authorization"]) && one_of(last_word(rest).1, &["user"]) {
        return None;
    }
    if one_of(word, &["authorization", "credential", "credentials", "apikey", "passwords", "jwt"]) {
        return Some(Promise::Strong);
    }
    let alone = last_word(rest).1.is_empty();
    if ends_with(word, "secret") {
        return Some(Promise::Strong);
    }
    if ends_with(word, "token") {
        return token(last_word(rest).1, word);
    }
    if ends_with(word, "cookie") {
        return Some(Promise::Weak);
    }
    let listed = one_of(word, &["key"]) && one_of(last_word(rest).1, KEY_OF)
        || one_of(word, &["pwd"]) && !alone
        || one_of(word, &["pass"]) && !alone && is_screaming(name)
        || one_of(word, &["accesskey", "secretkey", "privatekey", "storepass", "keypass"])
        || name == b"_auth"
        || name == b"REDISCLI_AUTH";
    listed.then_some(Promise::Strong)
}

fn token(before: &[u8], word: &[u8]) -> Option<Promise> {
    match before {
        _ if one_of(before, TOKEN_OTHER) => None,
        [] if one_of(word, &["token"]) => Some(Promise::Weak),
        // The package, in every manifest that needs it.
        [] if one_of(word, &["jsonwebtoken"]) => None,
        _ => Some(Promise::Strong),
    }
}

/// Whether a parameter of a URL signs it: whoever has such a URL may do what it says.
pub(super) fn signs(name: &[u8]) -> bool {
    one_of(last_word(name).1, &["sig", "signature"])
}

/// Whether the strings under `key` are identifiers or digests by design, which look random and
/// are needed to join records: no entropy check there.
pub(super) fn holds_identifiers(key: &str) -> bool {
    let word = last_word(key.as_bytes()).1;
    one_of(
        word,
        &[
            "id",
            "ids",
            "uuid",
            "guid",
            "hash",
            "sha",
            "digest",
            "checksum",
            "integrity",
            "etag",
            "signature",
            "fingerprint",
            "commit",
            "cursor",
            "slug",
        ],
    ) || key == "encrypted_content"
}

/// Whether a name is spelt like an environment variable: `DB_PASSWORD`.
pub(super) fn is_screaming(name: &[u8]) -> bool {
    name.iter().all(|&byte| is(byte, UPPER | DIGIT | JOIN)) && name.iter().any(|&b| is(b, UPPER))
}

/// The last word of a name and what stands before it; separators and digits fall away.
pub(super) fn last_word(name: &[u8]) -> (&[u8], &[u8]) {
    let mut end = name.len();
    while end > 0 && !is(at(name, end - 1), UPPER | LOWER) {
        end -= 1;
    }
    let mut start = end;
    while start > 0 && is(at(name, start - 1), LOWER) {
        start -= 1;
    }
    if start == end {
        while start > 0 && is(at(name, start - 1), UPPER) {
            start -= 1;
        }
    } else if start > 0 && is(at(name, start - 1), UPPER) {
        start -= 1;
    }
    (slice(name, 0, start), slice(name, start, end))
}

fn ends_with(word: &[u8], suffix: &str) -> bool {
    let Some(start) = word.len().checked_sub(suffix.len()) else { return false };
    slice(word, start, word.len()).eq_ignore_ascii_case(suffix.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        for name in [
            "password",
            "Password",
            "dbPassword",
            "DB_PASSWORD",
            "db-password",
            "PGPASSWORD",
            "passwd",
            "passphrase",
            "secret",
            "client_secret",
            "clientSecret",
            "token",
            "auth_token",
            "accessToken",
            "refresh-token",
            "GITHUB_TOKEN",
            "GITHUB_TOKEN_2",
            "api_key",
            "apiKey",
            "APIKey",
            "apikey",
            "api-key",
            "X-Api-Key",
            "x-api-key",
            "API_KEY_PROD",
            "authorization",
            "Proxy-Authorization",
            "private_key",
            "cookie",
            "set-cookie",
            "Set-Cookie",
            "credentials",
            "aws_secret_access_key",
            "SecretAccessKey",
            "SECRET_KEY_BASE",
            "_authToken",
            "--password",
            "DB_PASS",
            "db_pwd",
            "_auth",
        ] {
            assert!(promise(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn counters_and_harmless_relatives_are_not_names_of_secrets() {
        for name in [
            "input_tokens",
            "max_tokens",
            "token_count",
            "tokens",
            "totalTokens",
            "author",
            "authors",
            "key",
            "keys",
            "keyword",
            "session_id",
            "tool_use_id",
            "call_id",
            "turn_id",
            "uuid",
            "promptId",
            "signature",
            "public_key",
            "access_key_id",
            "token_type",
            "next_page_token",
            "nextToken",
            "eos_token",
            "user_authorization",
            "PWD",
            "OLDPWD",
            "pwd",
            "passed",
            "pass",
            "secretary",
            "authored",
            "auth",
            "monkey",
            "primary_key",
            "tokenizer",
            "",
            "_",
            "123",
        ] {
            assert_eq!(promise(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn a_bare_token_promises_less_than_a_named_one() {
        assert_eq!(promise(b"token"), Some(Promise::Weak));
        assert_eq!(promise(b"github_token"), Some(Promise::Strong));
    }

    #[test]
    fn identifier_keys_are_told_from_others() {
        for key in ["tool_use_id", "promptId", "uuid", "signature", "commit_hash", "requestId"] {
            assert!(holds_identifiers(key), "{key}");
        }
        for key in ["command", "text", "grid", "message"] {
            assert!(!holds_identifiers(key), "{key}");
        }
    }
}
