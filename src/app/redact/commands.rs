//! Secrets that only the command around them gives away: `curl -u user:password`, `mysql -psecret`,
//! `docker login -p secret`, the lines of a netrc.
//!
//! A short flag means nothing by itself (`docker run -p 80:80`), so the words before it are looked
//! at, back to where the command begins, and no further than a bounded part of it.

use super::bytes::{ALNUM, JOIN, LETTER, at, blanks, from, is, one_of, slice};
use super::detectors::Found;
use super::values::{self, Quote};

/// How far back a command's name is looked for.
const BEHIND: usize = 240;
/// How much of a value is looked at.
const PROBE: usize = 256;

/// How a flag's value holds the secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `-p secret` or `-psecret`.
    Either,
    /// `-psecret` only: with a space the program asks for it.
    Attached,
    /// `-u user:secret`, and the sign between the two.
    After(u8),
}

/// The flags of some programs.
struct Flag {
    programs: &'static [&'static str],
    /// A word that must stand between program and flag; empty where none must.
    verb: &'static str,
    flags: &'static [&'static str],
    form: Form,
}

const MYSQL: &[&str] =
    &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mariadb", "mariadb-dump"];
const MONGO: &[&str] =
    &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"];
const LDAP: &[&str] =
    &["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami"];
const REGISTRY: &[&str] =
    &["docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "az", "oc"];

static FLAGS: &[Flag] = &[
    flag(&["curl"], "", &["-u", "-U", "--user", "--proxy-user"], Form::After(b':')),
    flag(&["http", "https", "xh"], "", &["-a", "--auth"], Form::After(b':')),
    flag(&["skopeo", "oras"], "", &["--creds", "--src-creds", "--dest-creds"], Form::After(b':')),
    flag(&["smbclient"], "", &["-U"], Form::After(b'%')),
    flag(&["lftp"], "", &["-u"], Form::After(b',')),
    flag(&["openssl"], "", &["-passin", "-passout", "-pass"], Form::After(b':')),
    flag(MYSQL, "", &["-p"], Form::Attached),
    flag(&["7z", "7za", "7zz"], "", &["-p"], Form::Attached),
    flag(REGISTRY, "login", &["-p"], Form::Either),
    flag(&["sshpass", "rdesktop"], "", &["-p"], Form::Either),
    flag(MONGO, "", &["-p"], Form::Either),
    flag(LDAP, "", &["-w"], Form::Either),
    flag(&["redis-cli"], "", &["-a"], Form::Either),
    flag(&["sqlcmd", "bcp", "zip", "unzip"], "", &["-P"], Form::Either),
    flag(&["ssh-keygen"], "", &["-N", "-P"], Form::Either),
];

const fn flag(
    programs: &'static [&'static str],
    verb: &'static str,
    flags: &'static [&'static str],
    form: Form,
) -> Flag {
    Flag { programs, verb, flags, form }
}

/// The secret that the run `bytes[start..end]` announces: a flag, or the word of a netrc.
pub(super) fn secret(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let run = slice(bytes, start, end);
    if at(run, 0) == b'-' && is(at(run, 1), LETTER | JOIN) {
        let before = start.checked_sub(1).map_or(b' ', |before| at(bytes, before));
        if before.is_ascii_whitespace() || values::is_quote(before) {
            return of_flag(bytes, start, end);
        }
    }
    if run == b"password" && at(bytes, end) == b' ' { of_netrc(bytes, start, end) } else { None }
}

/// Whether a list of arguments that begins with `program` can hold a secret behind a short flag.
pub(super) fn is_program(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    FLAGS.iter().any(|known| known.verb.is_empty() && known.programs.contains(&name))
}

/// Whether `argument` is, in a list of arguments that begins with `program`, a flag before a secret
/// (`Some(false)`) or a flag with the secret in it (`Some(true)`).
pub(super) fn argument(program: &str, argument: &str) -> Option<bool> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let mut known = FLAGS.iter().filter(|f| f.verb.is_empty() && f.programs.contains(&name));
    known.find_map(|known| {
        if known.form != Form::Attached && known.flags.contains(&argument) {
            return Some(false);
        }
        let held =
            known.flags.iter().filter(|f| f.len() == 2).find_map(|f| argument.strip_prefix(f));
        held.filter(|held| !held.is_empty() && known.form != Form::Attached || held.len() >= 3)
            .filter(|held| !values::is_placeholder(held.as_bytes()))
            .map(|_| true)
    })
}

fn of_flag(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let run = slice(bytes, start, end);
    let named = |flag: &&&str| run == flag.as_bytes();
    let short = |flag: &&&str| flag.len() == 2 && run.starts_with(flag.as_bytes());
    let mut candidates =
        FLAGS.iter().filter(|known| known.flags.iter().any(|flag| named(&flag) || short(&flag)));
    let first = candidates.next()?;
    let words = Words::before(bytes, start);
    std::iter::once(first).chain(candidates).filter(|known| words.call(known)).find_map(|known| {
        if known.flags.iter().any(|flag| named(&flag)) {
            let value = match at(bytes, end) {
                quote if values::is_quote(quote) => end,
                b' ' | b'\t' if known.form != Form::Attached => end + blanks(from(bytes, end)),
                b'=' if known.form != Form::Attached => end + 1,
                _ => return None,
            };
            return held(bytes, value, known.form);
        }
        held(bytes, start + 2, known.form)
    })
}

/// The secret in the value at `start`.
fn held(bytes: &[u8], start: usize, form: Form) -> Option<Found> {
    let (start, end) = match Quote::open(bytes, start) {
        Some(quote) => {
            let close = quote.close(bytes, quote.content, quote.content + PROBE)?;
            (quote.content, close)
        }
        None => {
            let text = slice(bytes, start, start + PROBE);
            let outside = |b: &u8| b.is_ascii_whitespace() || b"\"'`;|&<>()\\".contains(b);
            (start, start + text.iter().position(outside).unwrap_or(text.len()))
        }
    };
    let value = slice(bytes, start, end);
    let (start, secret) = match form {
        Form::After(sign) => {
            let at = value.iter().position(|&byte| byte == sign)?;
            (start + at + 1, from(value, at + 1))
        }
        Form::Either | Form::Attached => (start, value),
    };
    let is_value = !secret.is_empty()
        && !values::is_placeholder(secret)
        && !values::is_marked(secret)
        && values::is_flag_value(secret);
    is_value.then_some(Found { start, end, kind: "assignment" })
}

/// `machine host login me password secret`, also over several lines, and what reads like it.
fn of_netrc(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let before = slice(bytes, start.saturating_sub(BEHIND), start);
    let words: Vec<&[u8]> = before.split(|b| b.is_ascii_whitespace()).rev().take(12).collect();
    let holds = |wanted: &[u8]| words.contains(&wanted);
    let netrc = holds(b"login") && (holds(b"machine") || holds(b"default"));
    if !netrc && !holds(b"nmcli") {
        return None;
    }
    held(bytes, end + blanks(from(bytes, end)), Form::Either)
}

/// The words of one command before a flag, the nearest first.
struct Words<'a>(Vec<&'a [u8]>);

impl<'a> Words<'a> {
    fn before(bytes: &'a [u8], start: usize) -> Self {
        let window = slice(bytes, start.saturating_sub(BEHIND), start);
        let separates = |i: usize| match at(window, i) {
            b';' | b'|' => true,
            // A line goes on behind a backslash.
            b'\n' => i.checked_sub(1).map_or(0, |before| at(window, before)) != b'\\',
            b'&' => at(window, i + 1) == b'&',
            _ => false,
        };
        let begin = (0..window.len()).rev().find(|&i| separates(i)).map_or(0, |i| i + 1);
        let of_word = |b: &u8| is(*b, ALNUM | JOIN) || *b == b'.';
        let words = from(window, begin).split(|b| !of_word(b)).filter(|w| !w.is_empty());
        let mut found: Vec<&[u8]> = words.collect();
        found.reverse();
        Self(found)
    }

    /// Whether the words are those of a call of one of the programs.
    fn call(&self, known: &Flag) -> bool {
        let program = self.0.iter().position(|word| one_of(word, known.programs));
        let behind = program.and_then(|at| self.0.get(..at));
        behind
            .is_some_and(|behind| known.verb.is_empty() || behind.contains(&known.verb.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use crate::app::redact::{text, value};
    use serde_json::json;

    fn cut(form: &str) {
        for secret in ["hunter2!x", "Tr0ub4dor", "opensesame"] {
            let text_of = |put: &str| form.replace("{}", put);
            let expected = text_of("[REDACTED:assignment]");
            assert_eq!(text(&text_of(secret)), expected);
            // As one line of several, and inside a JSON string.
            let lines = format!("$ cd /w\n$ {}\nok", text_of(secret));
            assert_eq!(text(&lines), format!("$ cd /w\n$ {expected}\nok"));
        }
    }

    #[test]
    fn passwords_behind_the_flags_of_known_programs_go() {
        for form in [
            "curl -u me:{} https://example.com",
            "curl -s --user me:{} https://example.com",
            "curl -sS -X POST -u 'me:{}' https://example.com",
            "curl -ume:{} https://example.com",
            "curl --proxy-user me:{} https://example.com",
            "http -a me:{} example.com/x",
            "mysql -u root -p{} db",
            "mysqldump -uroot -p'{}' db > out.sql",
            "/usr/bin/mysqladmin -h db -p{} status",
            "sshpass -p {} ssh me@host",
            "sshpass -p'{}' scp a b",
            "docker login -u me -p {} registry.example.com",
            "podman login --username me -p \"{}\" quay.io",
            "az acr login -n x -p {}",
            "redis-cli -h cache -a {} ping",
            "mongosh --host db -u me -p {} --quiet",
            "ldapsearch -x -D cn=admin -w {} -b dc=x",
            "sqlcmd -S db -U sa -P {} -Q 'select 1'",
            "unzip -P {} a.zip",
            "ssh-keygen -t ed25519 -N {} -f key",
            "smbclient //host/share -U me%{}",
            "openssl rsa -in k.pem -passin pass:{} -out o.pem",
            "curl \\\n  -u me:{} \\\n  https://example.com",
        ] {
            cut(form);
        }
    }

    #[test]
    fn the_lines_of_a_netrc_go() {
        cut("machine api.example.com login me password {}");
        cut("machine api.example.com\n  login me\n  password {}\n");
        cut("nmcli dev wifi connect Home password {}");
    }

    #[test]
    fn the_same_flags_of_other_programs_stay() {
        for kept in [
            "docker run -p 8080:80 -u 1000:1000 -a stdout image",
            "docker login && docker run -p 8080:80 image",
            "mysql -u root -p db",
            "mysql -P3306 -h db",
            "mkdir -p some/folder1 && cp -a a1 b2",
            "ssh -p 2222 me@host",
            "git push -u origin feature/branch-1",
            "sort -u file.txt:2",
            "curl -u \"$USER:$PASS\" https://example.com",
            "curl -u me https://example.com",
            "sshpass -p $PW ssh host; sshpass -p \"$PW\" ssh host",
            "the password field is checked, and password rules apply",
            "login with your password please",
            "python -m pytest -p no:cacheprovider -u x:y",
            "grep -w word file; zip -r a.zip b",
            "use -p PORT and -u USER:PASS with curl",
            "psql -U me -p 5432 -w db",
        ] {
            assert_eq!(text(kept), kept);
        }
    }

    #[test]
    fn a_list_of_arguments_is_read_like_a_line() {
        let mut list = json!(["curl", "-s", "-u", "me:hunter2", "https://example.com"]);
        value(&mut list);
        assert_eq!(list[3], "[REDACTED:secret_key]");
        let mut list = json!(["/usr/bin/mysql", "-uroot", "-phunter2", "db"]);
        value(&mut list);
        assert_eq!(list, json!(["/usr/bin/mysql", "-uroot", "[REDACTED:secret_key]", "db"]));
        let mut list = json!(["docker", "run", "-p", "8080:80", "image"]);
        let before = list.clone();
        value(&mut list);
        assert_eq!(list, before);
    }

    #[test]
    fn basic_credentials_go_wherever_they_stand() {
        // user:password and a:b in base64.
        let encoded = ["dXNlcjpw", "YXNzd29yZA=="].concat();
        assert_eq!(
            text(&format!("header Basic {encoded} sent")),
            "header Basic [REDACTED:bearer] sent"
        );
        for kept in ["Basic Authentication", "basic dXNlcg", "Basic understanding1 of it"] {
            assert_eq!(text(kept), kept);
        }
    }

    #[test]
    fn secrets_with_a_tilde_go() {
        let body = "aB3.dE-fG_hI7jK".repeat(3);
        let azure = ["x1Y", "8Q", "~", &body[..34]].concat();
        assert_eq!(
            text(&format!("secret is {azure} now")),
            "secret is [REDACTED:azure_secret] now"
        );
        let openshift = ["sha256", "~", &body[..43].replace('.', "x")].concat();
        assert_eq!(text(&format!("use {openshift}")), "use [REDACTED:openshift_token]");
        for kept in ["cd ~/x", "Q~", "FAQ~1", "HEAD~6", "sha256~short", "main8Q~x"] {
            assert_eq!(text(kept), kept);
        }
    }

    #[test]
    fn the_signature_of_a_shared_url_goes() {
        let signature = "a8F2%2Bk0".repeat(6);
        let url = format!("https://x.blob.example.net/c/f?sv=2024-01-01&sig={signature}&se=1");
        assert_eq!(
            text(&url),
            "https://x.blob.example.net/c/f?sv=2024-01-01&sig=[REDACTED:assignment]&se=1"
        );
        assert_eq!(text("kill?sig=9&sig=TERM"), "kill?sig=9&sig=TERM");
    }
}
