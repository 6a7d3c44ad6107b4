//! `fornax usage`: rows, days, trees, filters, what is left out, and money.

use crate::support::{TestEnv, rows};
use serde_json::{Value, json};

const MAIN: &str = "11111111-0000-4000-8000-000000000001";
const THREAD: &str = "01a1aa00-0000-7000-8000-000000000001";

/// A Claude line with usage; `agent` for a sub-agent's.
fn reply(id: &str, at: &str, agent: Option<&str>, usage: Value) -> String {
    let mut line = json!({"type": "assistant", "uuid": format!("{id}{at}"), "timestamp": at,
        "sessionId": MAIN, "cwd": "/w", "version": "2.1.300", "isSidechain": agent.is_some(),
        "message": {"id": id, "role": "assistant", "model": "claude-demo-1", "type": "message",
            "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
            "usage": usage}});
    if let Some(agent) = agent {
        line["agentId"] = json!(agent);
    }
    format!("{line}\n")
}

fn claude(input: i64, cached: i64, output: i64) -> Value {
    json!({"input_tokens": input, "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0, "output_tokens": output})
}

fn codex(totals: &[(&str, i64, i64)]) -> String {
    let mut lines = vec![
        json!({"timestamp": "2026-10-02T09:00:00.000Z", "type": "session_meta", "payload":
            {"id": THREAD, "cwd": "/w", "cli_version": "0.140.0", "source": "cli"}}),
        json!({"timestamp": "2026-10-02T09:00:00.000Z", "type": "turn_context", "payload":
            {"turn_id": "t1", "cwd": "/w", "model": "gpt-demo"}}),
    ];
    for (at, input, output) in totals {
        let total = json!({"input_tokens": input, "cached_input_tokens": 0,
            "output_tokens": output, "reasoning_output_tokens": 0, "total_tokens": input + output});
        lines.push(json!({"timestamp": at, "type": "event_msg", "payload":
            {"type": "token_count", "info": {"total_token_usage": total}}}));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A session with a repeated response and a sub-agent, and a Codex thread over two days.
fn recorded() -> TestEnv {
    let env = TestEnv::new();
    let evening = "2026-10-01T22:30:00.000Z";
    let mut main = reply("msg_1", evening, None, claude(10, 90, 1));
    main += &reply("msg_1", "2026-10-01T22:30:01.000Z", None, claude(10, 90, 40));
    let agent = reply("msg_2", "2026-10-01T22:31:00.000Z", Some("a1"), claude(5, 0, 7));
    env.write(&format!("p/{MAIN}.jsonl"), main);
    env.write(&format!("p/{MAIN}/subagents/agent-a1.jsonl"), agent);
    env.write(
        "c/rollout-2026-10-02T11-00-00-x.jsonl",
        codex(&[("2026-10-02T09:01:00.000Z", 100, 10), ("2026-10-03T09:00:00.000Z", 250, 25)]),
    );
    let folder = env.path("");
    env.ingest(&folder);
    env
}

fn ask(env: &TestEnv, args: &[&str]) -> Value {
    env.run(["usage", "--json", "--tz", "utc"].iter().chain(args)).ok().json()
}

/// Key, input and output of each row.
fn brief(answer: &Value) -> Vec<(Option<&str>, i64, i64)> {
    let rows = answer["rows"].as_array().unwrap().iter();
    let number = |row: &Value, name: &str| row[name].as_i64().unwrap();
    rows.map(|row| (row["key"].as_str(), number(row, "input"), number(row, "output"))).collect()
}

#[test]
fn a_day_holds_what_a_total_grew_by_on_it() {
    let env = recorded();
    assert_eq!(
        brief(&ask(&env, &[])),
        [
            (Some("2026-10-01"), 105, 47),
            (Some("2026-10-02"), 100, 10),
            (Some("2026-10-03"), 150, 15)
        ]
    );
}

#[test]
fn the_zone_decides_the_day() {
    let env = recorded();
    let berlin = env.run(["usage", "--json", "--tz", "+02:00"]).ok().json();
    assert_eq!(brief(&berlin)[0], (Some("2026-10-02"), 205, 57));
    let west = env.run(["usage", "--json", "--tz", "-10:00"]).ok().json();
    assert_eq!(brief(&west)[0], (Some("2026-10-01"), 205, 57));
    let error = env.run(["usage", "--tz", "Mars/Base"]).one_line_error(64);
    assert!(error.contains("Mars/Base"), "{error}");
    let error = env.run(["usage", "--tz", "../../etc/passwd"]).one_line_error(64);
    assert!(error.contains("no time zone"), "{error}");
}

#[test]
fn a_sub_agent_is_a_row_of_its_own_and_rolls_up_to_its_root() {
    let env = recorded();
    let key = |id: &str| format!("conversation:claude_code:local:{id}");
    let (main, agent) = (key(MAIN), key("a1"));
    let thread = format!("conversation:codex:local:{THREAD}");
    let sessions = ask(&env, &["--by", "session"]);
    assert_eq!(
        brief(&sessions),
        [
            (Some(main.as_str()), 100, 40),
            (Some(agent.as_str()), 5, 7),
            (Some(thread.as_str()), 250, 25)
        ]
    );
    let trees = ask(&env, &["--by", "tree"]);
    assert_eq!(brief(&trees), [(Some(main.as_str()), 105, 47), (Some(thread.as_str()), 250, 25)]);
    let below = ask(&env, &["--by", "session", "--session", MAIN]);
    assert_eq!(brief(&below).len(), 2);
    let only = ask(&env, &["--by", "session", "--session", "a1"]);
    assert_eq!(brief(&only), [(Some(agent.as_str()), 5, 7)]);
    assert_eq!(only["excluded"], json!({}));
}

#[test]
fn a_conversation_is_shown_by_the_id_that_other_commands_take() {
    let env = recorded();
    let text = env.run(["usage", "--by", "session"]).ok().stdout;
    assert!(text.lines().any(|line| line.starts_with(MAIN)), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn models_and_providers_are_rows_too() {
    let env = recorded();
    assert_eq!(
        brief(&ask(&env, &["--by", "model"])),
        [(Some("claude-demo-1"), 105, 47), (Some("gpt-demo"), 250, 25)]
    );
    assert_eq!(
        brief(&ask(&env, &["--by", "provider"])),
        [(Some("claude_code"), 105, 47), (Some("codex"), 250, 25)]
    );
}

#[test]
fn since_and_until_take_days_and_instants() {
    let env = recorded();
    let days = ask(&env, &["--since", "2026-10-02", "--until", "2026-10-02"]);
    assert_eq!(brief(&days), [(Some("2026-10-02"), 100, 10)]);
    let instants =
        ask(&env, &["--since", "2026-10-02T09:01:00Z", "--until", "2026-10-03T09:00:00Z"]);
    assert_eq!(brief(&instants), [(Some("2026-10-02"), 100, 10)]);
    let error = env.run(["usage", "--since", "yesterday"]).one_line_error(64);
    assert!(error.contains("yesterday"), "{error}");
}

#[test]
fn every_number_has_a_confidence_and_an_unreported_one_is_null() {
    let env = recorded();
    let answer = ask(&env, &["--by", "model"]);
    let (model, other) = (&answer["rows"][0], &answer["rows"][1]);
    assert_eq!(model["confidence"]["input"], "exact");
    assert_eq!(model["confidence"]["output"], "lower_bound", "a sub-agent is among it");
    assert_eq!(
        (&model["reasoning_output"], &model["known"]["reasoning_output"]),
        (&json!(null), &json!(0))
    );
    assert_eq!((&other["total"], &other["confidence"]["total"]), (&json!(275), &json!("exact")));
    assert_eq!(answer["totals"]["input"], 355);
    assert_eq!(answer["totals"]["responses"], 2);
}

#[test]
fn what_is_left_out_is_counted_and_explained_with_its_place() {
    let env = recorded();
    assert_eq!(
        ask(&env, &[])["excluded"],
        json!({"repeated_response": {"responses": 1, "tokens": 101}})
    );
    assert_eq!(ask(&env, &[])["explained"], json!(null));
    let explained = ask(&env, &["--explain"])["explained"].clone();
    let one = &explained[0];
    assert_eq!(explained.as_array().unwrap().len(), 1);
    assert_eq!((&one["reason"], &one["response"]), (&json!("repeated_response"), &json!("msg_1")));
    assert_eq!(
        (&one["seen"]["offset"], &one["seen"]["path"]),
        (&json!(0), &json!("message.usage"))
    );
    assert!(one["seen"]["source"].as_str().unwrap().ends_with(&format!("{MAIN}.jsonl")));
}

#[test]
fn a_copy_of_a_file_changes_no_number() {
    let env = recorded();
    let before = ask(&env, &["--by", "model"]);
    let from = env.path("c/rollout-2026-10-02T11-00-00-x.jsonl");
    let copy = std::fs::read(from).unwrap();
    env.write("c/archived/rollout-2026-10-02T11-00-00-x.jsonl", copy);
    let main = std::fs::read(env.path(&format!("p/{MAIN}.jsonl"))).unwrap();
    env.write("p/copy.jsonl", main);
    env.ingest(&env.path(""));
    let after = ask(&env, &["--by", "model"]);
    assert_eq!(before["rows"], after["rows"]);
    assert_eq!(after["excluded"]["other_copy"]["responses"], 2);
}

/// Everything that can be asked without looking at single reports.
const QUESTIONS: [&[&str]; 7] = [
    &["--by", "day", "--tz", "utc"],
    &["--by", "day", "--tz", "Asia/Kathmandu"],
    &["--by", "model"],
    &["--by", "provider"],
    &["--by", "session"],
    &["--by", "day", "--tz", "utc", "--since", "2026-10-02", "--until", "2026-10-02T12:00:00Z"],
    &["--by", "day", "--tz", "+02:07"],
];

fn answers(env: &TestEnv) -> Vec<Value> {
    let ask = |args: &&[&str]| env.run(["usage", "--json"].iter().chain(*args)).ok().json();
    QUESTIONS.iter().map(ask).collect()
}

/// `recorded`, and a thread with as many totals as it takes for a summary to be kept.
fn large() -> TestEnv {
    let env = recorded();
    let stamp = |nth: i64| {
        let (day, hour, minute) = (nth / 1_440 % 28 + 1, nth / 60 % 24, nth % 60);
        format!("2026-11-{day:02}T{hour:02}:{minute:02}:30.000Z")
    };
    let stamps: Vec<String> = (0..10_000).map(stamp).collect();
    let totals: Vec<(&str, i64, i64)> =
        stamps.iter().zip(1..).map(|(at, nth)| (at.as_str(), nth, nth)).collect();
    let other = "01a1aa00-0000-7000-8000-000000000002";
    env.write("c/rollout-2026-11-01T00-00-00-y.jsonl", codex(&totals).replace(THREAD, other));
    env.ingest(&env.path(""));
    env
}

#[test]
fn the_kept_summary_answers_what_all_reports_answer() {
    let env = large();
    env.ingest(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agents"));
    assert_eq!(rows::count(&env, "SELECT count(*) FROM derived"), 0);
    let kept = answers(&env);
    assert_eq!(rows::count(&env, "SELECT count(*) FROM derived"), 1);
    // One that nobody can read is not made again: every report is looked at.
    rows::open_to_write(&env).execute("UPDATE derived SET value = '7'", []).unwrap();
    assert_eq!(answers(&env), kept);
}

#[test]
fn a_summary_of_an_earlier_state_is_not_used() {
    let env = large();
    ask(&env, &["--by", "model"]);
    let name = "c/rollout-2026-10-02T11-00-00-x.jsonl";
    let more = codex(&[("2026-10-03T10:00:00.000Z", 300, 30)]);
    let more = more.lines().last().unwrap();
    let mut file = std::fs::read_to_string(env.path(name)).unwrap();
    file.push_str(&format!("{more}\n"));
    env.write(name, file);
    env.run(["tail", "--once", name]).ok();
    assert_eq!(rows::count(&env, "SELECT count(*) FROM derived"), 1);
    let answer = ask(&env, &["--by", "model"]);
    assert_eq!(brief(&answer)[1], (Some("gpt-demo"), 10_300, 10_030));
    rows::open_to_write(&env).execute("UPDATE derived SET value = '[]'", []).unwrap();
    assert_eq!(ask(&env, &["--by", "model"]), answer);
}

#[test]
fn a_kept_summary_that_cannot_be_read_is_passed_over() {
    let env = large();
    let before = answers(&env);
    rows::open_to_write(&env).execute("UPDATE derived SET value = '{\"cells\": 7}'", []).unwrap();
    assert_eq!(answers(&env), before);
}

#[test]
fn money_comes_only_from_a_table_and_a_model_without_a_price_is_unpriced() {
    let env = recorded();
    assert_eq!(ask(&env, &[])["totals"]["cost"], json!(null));
    let table = json!({"currency": "EUR", "prefixes":
        {"claude-": {"input": 3_000_000, "cached_input": 300_000, "output": 15_000_000}}});
    let path = env.write("prices.json", table.to_string());
    let path = path.to_str().unwrap();
    let answer = ask(&env, &["--by", "model", "--prices", path]);
    // 15 fresh * 3 + 90 cached * 0.3 + 47 out * 15
    let cost = &answer["rows"][0]["cost"];
    assert_eq!((&cost["micros"], &cost["currency"]), (&json!(777), &json!("EUR")));
    let unpriced = &answer["rows"][1]["cost"];
    assert_eq!(
        (&unpriced["micros"], &unpriced["unpriced_models"]),
        (&json!(null), &json!(["gpt-demo"]))
    );
    let total = &answer["totals"]["cost"];
    assert_eq!((&total["micros"], &total["known_micros"]), (&json!(null), &json!(777)));
    let text = env.run(["usage", "--by", "model", "--prices", path]).ok();
    assert!(text.stdout.contains("unpriced: gpt-demo"), "{}", text.stdout);
    env.write("odd.json", "{\"currency\": 1}");
    let error = env.run(["usage", "--prices", "odd.json"]).one_line_error(65);
    assert!(error.contains("no price table"), "{error}");
    env.run(["usage", "--prices", "absent.json"]).one_line_error(74);
}

#[test]
fn nothing_reported_is_no_numbers_and_not_zero() {
    let env = TestEnv::new();
    env.run(["usage"]).one_line_error(69);
    env.write("c/rollout-2026-10-02T11-00-00-x.jsonl", codex(&[]));
    env.ingest(&env.path(""));
    let answer = ask(&env, &[]);
    assert_eq!((&answer["rows"], &answer["totals"]["total"]), (&json!([]), &json!(null)));
    assert_eq!(env.run(["usage"]).ok().stdout, "no usage recorded for that\n");
}

#[test]
fn a_row_that_cannot_be_read_is_named_and_its_neighbours_counted() {
    let env = recorded();
    let damage = "UPDATE usage SET scope = 'oracle' WHERE response_id = 'msg_2'";
    rows::open_to_write(&env).execute(damage, []).unwrap();
    let answer = env.run(["usage", "--json", "--tz", "utc", "--by", "model"]).fails_with(1).json();
    assert_eq!(answer["failed"].as_array().unwrap().len(), 1);
    assert_eq!(brief(&answer), [(Some("claude-demo-1"), 100, 40), (Some("gpt-demo"), 250, 25)]);
}

#[test]
fn the_table_marks_what_is_not_exact() {
    let env = recorded();
    let text = env.run(["usage", "--by", "model", "--tz", "utc"]).ok().stdout;
    let expected = "\
MODEL          INPUT  CACHED  WRITTEN  OUTPUT  TOTAL
claude-demo-1    105      90        0    >=47  >=152
gpt-demo         250       0        ?      25    275
total            355      90        ?    >=72  >=427
left out: 1 repeated response (--explain lists them)
";
    assert_eq!(text, expected);
}
