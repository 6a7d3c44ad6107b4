//! Claude Code forks that give their copied history a new session id.

use crate::support::TestEnv;
use crate::support::claude::Claude;
use serde_json::Value;

/// A session, and a fork of it: the same lines under a new id, then lines of its own.
fn forked() -> (String, String) {
    let mut origin = Claude::new("s-origin");
    origin.prompt("fix the rounding");
    origin.bash("cargo test", Err((101, "error: test failed")));
    origin.answer("All tests pass.");
    let copied = origin.text().replace("\"sessionId\":\"s-origin\"", "\"sessionId\":\"s-fork\"");
    let mut own = Claude::new("s-fork");
    own.prompt("and now the docs");
    own.bash("ls docs", Ok("a.md"));
    let later = own.text().replace("2026-11-20T10:", "2026-11-20T11:");
    (origin.text(), format!("{copied}{later}"))
}

fn session(env: &TestEnv, id: &str) -> Value {
    env.sessions().into_iter().find(|s| s["native_id"] == id).unwrap()
}

fn told(env: &TestEnv) -> (Value, Value) {
    (session(env, "s-origin"), session(env, "s-fork"))
}

fn read(files: &[(&str, &str)]) -> TestEnv {
    let env = TestEnv::new();
    for (name, text) in files {
        env.write(&format!("in/{name}.jsonl"), text);
        env.ingest(&env.path("in"));
    }
    env
}

#[test]
fn copied_history_is_the_origins_whichever_is_read_first() {
    let (origin, fork) = forked();
    let orders = [[("a", &origin), ("b", &fork)], [("b", &fork), ("a", &origin)]];
    let [first, second] =
        orders.map(|order| read(&order.map(|(name, text)| (name, text.as_str()))));
    for env in [&first, &second] {
        let (origin, fork) = told(env);
        assert_eq!((&origin["failed_calls"], &fork["failed_calls"]), (&1.into(), &0.into()));
        assert_eq!((&origin["prompts"], &fork["prompts"]), (&1.into(), &1.into()));
        assert_eq!(fork["forked_from"], origin["conversation"]);
        assert_eq!(origin["forked_from"], Value::Null);
        let show = env.run(["show", "s-fork", "--json"]).ok().json();
        let text = show["events"].to_string();
        assert!(text.contains("and now the docs") && !text.contains("fix the rounding"), "{text}");
        assert_eq!(show["claims"], serde_json::json!([]));
        let verify = |id: &str| env.run(["verify", id, "--json"]).ok().json();
        assert_eq!(verify("s-origin")["counts"]["contradicted"], 1);
        assert_eq!(verify("s-fork")["findings"], serde_json::json!([]));
    }
    assert_eq!(first.sessions(), second.sessions());
}

#[test]
fn a_copy_without_its_origin_is_a_history_of_its_own_until_the_origin_is_there() {
    let (origin, fork) = forked();
    let env = read(&[("b", &fork)]);
    let alone = session(&env, "s-fork");
    assert_eq!((&alone["failed_calls"], &alone["prompts"]), (&1.into(), &2.into()));
    env.write("in/a.jsonl", origin);
    env.ingest(&env.path("in"));
    assert_eq!(told(&env).1["failed_calls"], 0);
    env.run(["forget", "--session", "s-origin", "--yes"]).ok();
    assert_eq!(session(&env, "s-fork")["failed_calls"], 1, "nobody else tells it any more");
}

#[test]
fn a_fork_of_a_fork_keeps_what_is_new_in_it() {
    let (origin, fork) = forked();
    let mut own = Claude::new("s-third");
    own.prompt("a third way");
    let third = fork.replace("s-fork\"", "s-third\"")
        + &own.text().replace("2026-11-20T10:", "2026-11-20T12:");
    let env = read(&[("c", &third), ("b", &fork), ("a", &origin)]);
    assert_eq!(session(&env, "s-third")["prompts"], 1);
    assert_eq!(session(&env, "s-fork")["prompts"], 1);
    assert_eq!(session(&env, "s-origin")["prompts"], 1);
}

#[test]
fn an_origin_that_goes_on_after_the_fork_stays_the_origin() {
    let (origin, fork) = forked();
    let mut more = Claude::new("s-origin");
    more.prompt("first");
    more.prompt("go on here as well");
    let line = more.lines().last().unwrap();
    let env = read(&[("a", &origin), ("b", &fork)]);
    env.write("in/a.jsonl", format!("{origin}{line}\n"));
    env.ingest(&env.path("in"));
    let (origin, fork) = told(&env);
    assert_eq!(fork["failed_calls"], 0, "{fork}");
    assert_eq!(origin["failed_calls"], 1, "{origin}");
}
