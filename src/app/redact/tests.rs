//! What is cut out and what stays, one named case a line; secrets are put together at run time, so
//! that this file holds nothing that looks like one.

mod properties;
mod walk;

use std::borrow::Cow;

use super::{text, text_counted};

/// A random-looking stretch of letters and digits.
pub(super) fn noise(length: usize) -> String {
    "q7Zp2XvK9mR4tW8sLd3Yh6BnJc5Gf1Tz".chars().cycle().take(length).collect()
}

/// `prefix` and `length` bytes of noise.
fn issued(prefix: &str, length: usize) -> String {
    [prefix, &noise(length)].concat()
}

fn upper(length: usize) -> String {
    noise(length).to_uppercase()
}

fn hex(length: usize) -> String {
    "0a1b2c3d4e5f6789".chars().cycle().take(length).collect()
}

fn web_token() -> String {
    ["ey", "J", &noise(20), ".ey", "J", &noise(40), ".", &noise(43)].concat()
}

fn private_key() -> String {
    let line = noise(64);
    let (begin, end) =
        (["-----BEG", "IN RSA PRIVATE KEY-----"], ["-----E", "ND RSA PRIVATE KEY-----"]);
    [&begin.concat(), "\n", &line, "\n", &line, "\n", &end.concat()].concat()
}

/// Every issued secret, by kind.
pub(super) fn canaries() -> Vec<(&'static str, String)> {
    let kinds = [
        ("github_token", issued("gh\u{70}_", 36)),
        ("github_token", issued("gho\u{5f}", 36)),
        ("github_token", issued("ghu\u{5f}", 36)),
        ("github_token", issued("ghs\u{5f}", 36)),
        ("github_token", issued("ghr\u{5f}", 36)),
        ("github_token", issued("github\u{5f}pat_", 60)),
        ("gitlab_token", issued("glpat\u{2d}", 20)),
        ("anthropic_key", issued("sk\u{2d}ant-api03-", 60)),
        ("openai_key", issued("sk\u{2d}proj-", 48)),
        ("openai_key", issued("sk\u{2d}", 48)),
        ("stripe_key", issued("sk\u{5f}live_", 24)),
        ("stripe_key", issued("rk\u{5f}live_", 24)),
        ("stripe_key", issued("pk\u{5f}live_", 24)),
        ("aws_key", ["AK", "IA", &upper(16)].concat()),
        ("aws_key", ["AS", "IA", &upper(16)].concat()),
        ("slack_token", issued("xoxb\u{2d}", 40)),
        ("slack_token", issued("xoxp\u{2d}", 40)),
        ("slack_token", issued("xapp\u{2d}1-", 40)),
        ("google_key", issued("AI\u{7a}a", 35)),
        ("google_token", issued("ya29\u{2e}", 60)),
        ("npm_token", issued("npm\u{5f}", 36)),
        ("pypi_token", issued("pypi\u{2d}", 80)),
        ("huggingface_token", issued("hf\u{5f}", 34)),
        ("sendgrid_key", ["SG", ".", &noise(22), ".", &noise(43)].concat()),
        ("digitalocean_token", ["dop_", "v1_", &hex(64)].concat()),
        ("shopify_token", ["shp", "at_", &hex(32)].concat()),
        ("square_token", issued("sq0\u{61}tp-", 22)),
        ("facebook_token", issued("EA\u{41}", 100)),
        ("mailgun_key", ["ke", "y-", &hex(32)].concat()),
        ("age_key", ["AGE-SECRET", "-KEY-1", &upper(58)].concat()),
        ("slack_webhook", ["hooks.slack", ".com/services/T01/B02/", &noise(24)].concat()),
        ("jwt", web_token()),
    ];
    kinds.into_iter().collect()
}

/// Asserts that each text keeps its surroundings and loses its secret.
fn assert_cut(cases: &[(&str, String, String)]) {
    for (name, input, expected) in cases {
        assert_eq!(&text(input), expected, "{name}");
        assert_eq!(&text(expected), expected, "{name}: the result is stable");
    }
}

/// Asserts that texts stay as they are, without a copy.
fn assert_kept(cases: &[&str]) {
    for case in cases {
        assert!(matches!(text(case), Cow::Borrowed(_)), "{case} -> {}", text(case));
    }
}

#[test]
fn issued_secrets_are_cut_out_by_kind() {
    for (kind, secret) in canaries() {
        let expected = format!("before [REDACTED:{kind}], after");
        assert_eq!(text(&format!("before {secret}, after")), expected);
        assert_eq!(text(&format!("(\"{secret}\")")), format!("(\"[REDACTED:{kind}]\")"));
    }
}

#[test]
fn issued_secrets_are_found_behind_escapes_and_percent_signs() {
    let secret = issued("sk\u{2d}", 48);
    assert_eq!(text(&format!("a\\n{secret}\\n")), "a\\n[REDACTED:openai_key]\\n");
    assert_eq!(text(&format!("?q%3D{secret}")), "?q%3D[REDACTED:openai_key]");
    assert_eq!(text(&format!("\u{1b}[31m{secret}\u{1b}")), "\u{1b}[31m[REDACTED:openai_key]\u{1b}");
    let glued = issued("xgh\u{70}_", 36);
    assert_eq!(text(&glued), "x[REDACTED:github_token]");
}

#[test]
fn several_secrets_of_one_text_are_counted() {
    let (one, two) = (issued("gh\u{70}_", 36), issued("npm\u{5f}", 36));
    let input = format!("{one}/{two} and {one}");
    let (redacted, count) = text_counted(&input);
    assert_eq!(count, 3);
    assert_eq!(
        redacted,
        "[REDACTED:github_token]/[REDACTED:npm_token] and [REDACTED:github_token]"
    );
}

#[test]
fn what_only_begins_like_an_issued_secret_stays() {
    assert_kept(&[
        "ghp_short and ghp_ alone",
        "task-runner-for-the-whole-team",
        "disk-usage-of-volume-number-2-here",
        "sk-loading-circle-fade-animation",
        "AKIA is a prefix; AKIASHORT is not a key",
        "npm_config_registry npm_lifecycle_event npm_package_version",
        "hf_hub_download(repo_id)",
        "key-value key-0123456789abcdef",
        "eyJ alone, eyJhbGc.short",
        "glpat-too-short",
        "SG.Game.Engine.Rendering",
        "pypi-server ya29.x xoxb-none",
    ]);
}

#[test]
fn private_keys_go_through_their_end_and_line_ends_stay() {
    let key = private_key();
    let (open, _) = key.split_at(100);
    let marker = "[REDACTED:private_key]";
    assert_cut(&[
        ("whole", format!("a\n{key}\nb"), format!("a\n{marker}\n\n\n\nb")),
        ("cut off", format!("a {open}"), format!("a {marker}\n\n")),
        ("escaped", format!("\"{}\"", key.replace('\n', "\\n")), format!("\"{marker}\"")),
    ]);
}

#[test]
fn pem_blocks_without_a_private_key_stay() {
    let certificate = private_key().replace("RSA PRIVATE KEY", "CERTIFICATE");
    let mention = ["grep -r '-----BEG", "IN PRIVATE KEY-----' . | head"].concat();
    let elided = ["-----BEG", "IN PRIVATE KEY-----\n...\n-----E", "ND PRIVATE KEY-----"].concat();
    assert_kept(&[&certificate, &mention, &elided]);
}

#[test]
fn header_credentials_go_and_their_scheme_stays() {
    let secret = noise(18);
    let basic = format!("{}==", noise(10));
    let case = |name: &'static str, form: &str, secret: &str, kind: &str| {
        let marker = format!("[REDACTED:{kind}]");
        (name, form.replace("{}", secret), form.replace("{}", &marker))
    };
    assert_cut(&[
        case("bearer", "Authorization: Bearer {}\r\nAccept: x", &secret, "bearer"),
        case("lower case", "authorization: bearer {}", &secret, "bearer"),
        case("basic", "-H 'Authorization: Basic {}' url", &basic, "bearer"),
        case("token", "-H \"Authorization: token {}\"", &secret, "bearer"),
        case("object", "{\"Authorization\": \"Bearer {}\"}", &secret, "bearer"),
        case("escaped object", "{\\\"Authorization\\\":\\\"Bearer {}\\\"}", &secret, "bearer"),
        case("no header", "send Bearer {} along", &secret, "bearer"),
        case("api key header", "-H 'X-Api-Key: {}'", "letmeinplease", "assignment"),
        case("cookie", "Cookie: {}", "sid=abc123def; theme=dark", "cookie"),
        case("set-cookie", "curl -H 'Set-Cookie: {}'", "sid=abc123def; Path=/", "cookie"),
    ]);
    assert_kept(&[
        "Authorization: Bearer $TOKEN",
        "-H \"Authorization: Bearer ${GITHUB_TOKEN}\"",
        "Authorization: Bearer <token>",
        "uses bearer authentication with refresh",
        "authorization: string",
        "const cookie = parseCookie(header)",
        "the cookie: it crumbles",
    ]);
}

#[test]
fn user_info_of_urls_goes_and_scheme_and_host_stay() {
    let case = |name: &'static str, form: &str, secret: &str| {
        (name, form.replace("{}", secret), form.replace("{}", "[REDACTED:url_userinfo]"))
    };
    assert_cut(&[
        case("database", "postgres://{}@db.example:5432/app", "app:hunter2"),
        case("no user", "redis://{}@cache:6379", ":hunter2"),
        case("quoted", "url = \"https://{}@example.com/x\"", "me:p@ss"),
        case("token as user", "git clone https://{}@example.com/r.git", &noise(24)),
        case("default", "postgres://{}@db", "${USER}:${PASS:-hunter2}"),
    ]);
    assert_kept(&[
        "git@github.com:owner/repo.git",
        "ssh://git@example.com/repo.git",
        "https://example.com/@scope/package",
        "https://example.com/a?mail=a:b@example.com",
        "http://localhost:3000 and user@example.com",
        "postgres://${USER}:${PASS}@host/db",
        "proto://<user>:<password>@host",
        "postgres://$USER:$PASS@host/db",
    ]);
}

#[test]
fn values_of_secret_names_go() {
    let case = |name: &'static str, form: &str, secret: &str| {
        (name, form.replace("{}", secret), form.replace("{}", "[REDACTED:assignment]"))
    };
    assert_cut(&[
        case("environment", "export API_KEY={} && run", "letmein"),
        case("environment with symbols", "DB_PASSWORD={}\nX=1", "p@ss,w(o)rd!"),
        case("environment, quoted", "API_KEY=\"{}\"", "some words in here 1"),
        case("escaped line end", "\\nAPI_KEY={}\\nX=1", "letmein"),
        case("flag", "login --password {} --user me", "letmein"),
        case("flag with sign", "login --token={} -v", "letmein"),
        case("flag in a list", "[\"login\",\"--password\",\"{}\"]", "let me in"),
        case("query", "https://example.com/cb?access_token={}&state=x", "abcdef"),
        case("form", "curl -d password={} url", "hunter2"),
        case("yaml", "  password: {}\n", "hunter2!"),
        case("ini", "password = {}\n", "hunter22"),
        case("object", "{\"user\":\"me\",\"password\":\"{}\"}", "x"),
        case("object, spaced", "{\"client_secret\" : \"{}\"}", "correct horse"),
        case("escaped object", "\"{\\\"password\\\":\\\"{}\\\",\\\"n\\\":1}\"", "pa\\\\\\\"ss"),
        case("twice escaped", "{\\\\\\\"apiKey\\\\\\\": \\\\\\\"{}\\\\\\\"}", "abc"),
        case("inner quote", "{\"password\":\"{}\"}", "a\\\"b"),
        case("cut off", "{\"password\":\"{}", "hunter2"),
        case("python", "{'token': '{}'}", "hunter2"),
        case("javascript", "const apiKey = '{}';", "abc-def-ghi"),
        case("rust", "const API_KEY: &str = \"{}\";", "abc-def-ghi"),
        case("index", "env[\"API_KEY\"] = \"{}\"", "abc-def-ghi"),
        case("ruby", "password: \"{}\"", "hunter2"),
        case("hash rocket", ":password => '{}'", "hunter2"),
        case("go", "apiKey := \"{}\"", "abc-def-ghi"),
        case("element", "<password>{}</password>", "hunter2"),
    ]);
}

#[test]
fn an_aws_secret_goes_by_its_name() {
    let secret = noise(40);
    for form in
        ["aws_secret_access_key = {}", "\"SecretAccessKey\": \"{}\"", "AWS_SECRET_ACCESS_KEY={}"]
    {
        let expected = form.replace("{}", "[REDACTED:aws_key]");
        assert_eq!(text(&form.replace("{}", &secret)), expected);
    }
}

#[test]
fn code_and_documentation_about_secrets_stay() {
    assert_kept(&[
        "token = getToken()",
        "let token = parse(x);",
        "password: string",
        "struct Login { token: String, password: Option<String> }",
        "fn login(password: &str, token: u64) -> Token",
        "connect(user=user, password=password)",
        "client = Client(api_key=settings.API_KEY)",
        "self.token = self.tokens[0]",
        "const token = this.lexer.token;",
        "password = os.environ[\"DB_PASSWORD\"]",
        "API_KEY=$KEY SECRET=${SECRET} TOKEN=$(pass show x)",
        "API_KEY=<your key> PASSWORD=*** TOKEN=",
        "\"password\": \"\", \"token\": null, \"secret\": true, \"apiKey\": 12",
        "PASSWORD=true TOKEN=none SECRET=12345",
        "--password <PASSWORD> --token TOKEN, the --token flag",
        "usage: login [--password PASSWORD] [--api-key API_KEY]",
        "PASSWORD_FILE=/run/secrets/db API_KEY=/run/secrets/key",
        "token: colon_token, semi_token: Token![;],",
        "max_tokens=4096 input_tokens: 1200 \"total_tokens\": 88 token_count=7",
        "password: z.string().min(8)",
        "The password: it must be long.",
        "PWD=/home/me/project OLDPWD=/home/me",
        "\"jsonwebtoken\":\"^9.0.2\"",
        "author = \"Somebody\", key: \"value1\", keys = [\"a1\"]",
        "getpass('Password: ', stream)",
        "token::parse and secret::Key",
    ]);
}

#[test]
fn random_looking_tokens_go() {
    for secret in
        [noise(24), noise(32), noise(64), noise(150), format!("{}+/{}", noise(20), noise(18))]
    {
        assert_eq!(
            text(&format!("use {secret} here")),
            "use [REDACTED:high_entropy] here",
            "{secret}"
        );
        assert_eq!(text(&format!("f(\"{secret}\")")), "f(\"[REDACTED:high_entropy]\")");
    }
}

#[test]
fn hashes_ids_paths_and_names_stay() {
    let long = noise(22);
    let digest = noise(43);
    let ids =
        ["toolu_01", "call_", "msg_01", "req_01", "resp_", "rs_", "fc_", "item_", "chatcmpl-"]
            .map(|prefix| format!("{prefix}{long}"));
    assert_kept(&ids.each_ref().map(String::as_str));
    assert_kept(&[&format!("sha256-{digest}="), &format!("\"sha512-{digest}{digest}==\"")]);
    assert_kept(&[&format!("h1:{digest}="), &format!("SHA256:{digest}")]);
    assert_kept(&[&hex(40), &hex(64), &hex(40).to_uppercase(), &hex(12)]);
    assert_kept(&[
        "0b9c8f5e-1d2a-4c3b-9e8f-7a6b5c4d3e2f",
        "/home/me/src/MyProject2/src/components/Button3Test.tsx",
        "src/app/redact/HTTPServer2Config_v3.test.ts:120",
        "rollout-2026-03-29T22-19-12-019d3cf7-965c-7fb0-8eca-afeca7fe7b00.jsonl",
        "getUserAccountSettings2FromCacheOrDatabase",
        "THIS_IS_A_LONG_CONSTANT_NAME_2 snake_case_name_with_numbers_2",
        "kebab-case-name-with-Number-2-and-more",
        "2026-12-01T00:35:45.123456Z v1.2.3-beta.4+build.567 1.0.0-rc.1",
        "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
        "core::fmt::Formatter2::<T>::writeStr",
        "@scope/package-name@1.2.3 eslint-plugin-React2Hooks",
        "https://example.com/Docs/v2/GettingStarted/Part3/Overview.html",
        "libserde-0123456789abcdef.rlib x86_64-unknown-linux-gnu",
        "0x9E3779B185EBCA87ULL LA_kwDOOm3QQc8AAAAB_54laQ",
    ]);
}

#[test]
fn text_around_a_secret_is_untouched() {
    let secret = issued("gh\u{70}_", 36);
    let input = format!("\t  a\u{e9}\r\n\n  {secret}\u{2028}\u{1f600} \n");
    assert_eq!(text(&input), "\t  a\u{e9}\r\n\n  [REDACTED:github_token]\u{2028}\u{1f600} \n");
}

#[test]
fn markers_are_left_alone() {
    assert_kept(&[
        "password=[REDACTED:assignment]",
        "{\"token\":\"[REDACTED:secret_key]\"}",
        "Authorization: Bearer [REDACTED:bearer]",
        "https://[REDACTED:url_userinfo]@host",
        "[REDACTED:high_entropy]",
    ]);
}
