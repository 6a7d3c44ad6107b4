//! Transcripts told from the near copies of other agents, and files beside them left alone.

use super::super::samples::transcripts;
use super::*;
use serde_json::json;

fn recognised(name: &str, values: &[Value]) -> bool {
    is_transcript(&SourceSample { path: Path::new(name), values })
}

#[test]
fn every_transcript_fixture_is_recognised_by_content_alone() {
    for (name, values) in transcripts() {
        assert!(recognised("/x/any.txt", &values), "{name}");
    }
}

#[test]
fn one_metadata_line_is_enough() {
    for line in [
        json!({"type": "summary", "summary": "s", "leafUuid": "u"}),
        json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}),
        json!({"type": "ai-title", "aiTitle": "t", "sessionId": "s"}),
        json!({"type": "custom-title", "customTitle": "t", "sessionId": "s"}),
    ] {
        assert!(recognised("/x/a.jsonl", std::slice::from_ref(&line)), "{line}");
    }
}

#[test]
fn near_copies_of_other_tools_are_refused() {
    let ours = json!({"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "x"}});
    for line in [
        json!({"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "parts": []}}),
        json!({"type": "assistant", "uuid": "u", "sessionId": "s", "message": {"role": "model", "content": ""}}),
        json!({"type": "system", "subtype": "ui_telemetry", "uuid": "u", "sessionId": "s", "systemPayload": {}}),
        json!({"hook_event_name": "Stop", "session_id": "s"}),
        json!({"type": "response_item", "payload": {}, "timestamp": "t"}),
        json!({"info": {"id": "ses_1"}, "messages": []}),
        json!({"display": "x", "timestamp": 1, "project": "/w", "sessionId": "s"}),
        json!({"sessionId": "s", "projectHash": "h", "messages": []}),
        json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null, "message": {"content": []}}),
    ] {
        assert!(!recognised("/x/a.jsonl", std::slice::from_ref(&line)), "{line}");
        assert!(!recognised("/x/a.jsonl", &[ours.clone(), line.clone()]), "mixed {line}");
    }
}

#[test]
fn a_file_without_any_sign_is_not_ours() {
    assert!(!recognised("/x/a.jsonl", &[]));
    assert!(!recognised("/x/a.jsonl", &[json!(7), json!({"type": "started", "key": "k"})]));
    assert!(!recognised("/x/a.jsonl", &[json!({"type": "user", "content": "x"})]));
}

#[test]
fn sidecars_have_a_reason_and_transcripts_have_none() {
    for path in [
        "/h/.claude/projects/p/s/subagents/agent-a1.meta.json",
        "/h/.claude/projects/p/s/custom-title.json",
        "/h/.claude/projects/p/sessions-index.json",
        "/h/.claude/projects/p/s/tool-results/x1.txt",
        "/h/.claude/history.jsonl",
        "/h/.claude/projects/p/s/workflows/wf_1.json",
        "/h/.claude/projects/p/s/subagents/workflows/wf_1/journal.jsonl",
        "/h/.claude/sessions/77.json",
        "/h/.claude/sessions/77.key",
    ] {
        assert!(sidecar(Path::new(path)).is_some(), "{path}");
    }
    for path in [
        "/h/.claude/projects/p/s.jsonl",
        "/h/.claude/projects/p/s/subagents/agent-a1.jsonl",
        "/h/.claude/projects/p/s/subagents/workflows/wf_1/agent-a1.jsonl",
        "/h/.codex/history.jsonl",
        "/w/workflows/ci.json",
    ] {
        assert_eq!(sidecar(Path::new(path)), None, "{path}");
    }
}

#[test]
fn roots_are_the_stated_folders_or_the_two_default_ones() {
    let none = |_: &str| None;
    let home = Some(PathBuf::from("/h"));
    assert_eq!(
        roots(&Homes { var: &none, home: home.clone() }),
        [PathBuf::from("/h/.claude/projects"), PathBuf::from("/h/.config/claude/projects")]
    );
    let xdg = |name: &str| (name == "XDG_CONFIG_HOME").then(|| "/c".to_owned());
    assert_eq!(
        roots(&Homes { var: &xdg, home: home.clone() }),
        [PathBuf::from("/h/.claude/projects"), PathBuf::from("/c/claude/projects")]
    );
    let stated = |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| "/a, /b,".to_owned());
    assert_eq!(
        roots(&Homes { var: &stated, home }),
        [PathBuf::from("/a/projects"), PathBuf::from("/b/projects")]
    );
    assert_eq!(roots(&Homes { var: &none, home: None }), Vec::<PathBuf>::new());
}
