#!/usr/bin/env python3
"""A small store of synthetic data, as one fornax writes it: fixtures/databases/v<schema>.db.

    scripts/database_fixture.py PROGRAM [FOLDER]

PROGRAM is the fornax that is released with the schema. It is given some of the fixtures and hook
payloads; then every table must hold a row. What no short run leaves behind is planted below.
Tests upgrade the file and compare every row, so it is made once and never again.
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
# The same on every machine: it is part of the rows.
SCRATCH = Path("/tmp/fornax-database")
HISTORIES = [
    "claude_code/subagent.jsonl", "claude_code/split_response_usage.jsonl",
    "claude_code/forked_copy.jsonl", "codex/referenced_fork.jsonl", "codex/turns_without_ids.jsonl",
]
DAMAGED = '{"type":"user","uuid":"damaged-1","sessionId":"damaged","message":{"role":"user"' \
    ',"content":"half\n{"type":"future_kind","uuid":"damaged-2","sessionId":"damaged"}\n'
# What only large stores keep, killed processes leave, or people ask for.
PLANTED = {
    "derived": "INSERT INTO derived VALUES ('usage', x'00', '{}')",
    "journal_segment": "INSERT INTO journal_segment VALUES ('seg-planted.fxj', 120)",
    "gated": "INSERT INTO gated SELECT id, 'turn-1', 1 FROM conversation LIMIT 1",
    "forgotten": "INSERT INTO forgotten VALUES (x'01', x'02', 1, NULL)",
    "forgotten_source": "INSERT INTO forgotten_source VALUES (x'03', 0, NULL)",
    "forgetting_source": "INSERT INTO forgetting_source SELECT id FROM source LIMIT 1",
}


def run(program, args, stdin=""):
    """Runs the program in the scratch home. An older one need not know every command."""
    env = {"PATH": os.environ["PATH"]}
    for name, folder in [("HOME", "user"), ("FORNAX_HOME", "home"), ("CODEX_HOME", "codex"),
                         ("CLAUDE_CONFIG_DIR", "claude"), ("XDG_RUNTIME_DIR", "run")]:
        env[name] = str(SCRATCH / folder)
    subprocess.run([program, *args], input=stdin, text=True, cwd=SCRATCH, env=env,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)


def payload(**more):
    return json.dumps({"session_id": "hooked", "cwd": "/home/dev/demo", "prompt_id": "p1", **more})


def record(program):
    histories = SCRATCH / "histories"
    histories.mkdir(parents=True)
    for name in HISTORIES:
        shutil.copy(HERE / "fixtures/agents" / name, histories / name.replace("/", "_"))
    good = (HERE / "fixtures/agents" / HISTORIES[1]).read_text().splitlines()[0]
    (histories / "damaged.jsonl").write_text(good + "\n" + DAMAGED)
    demo = (HERE / "fixtures/demo/claude_transcript.jsonl").read_text()
    for mark, value in [("@MINUTE@", "2026-11-20T10:00"), ("@PROJECT@", "/home/dev/demo"),
                        ("@HOME@", "/home/dev")]:
        demo = demo.replace(mark, value)
    (histories / "demo.jsonl").write_text(demo)
    call = dict(tool_name="Bash", tool_use_id="toolu_hooked", tool_input={"command": "cargo test"})
    run(program, ["hook", "claude"], payload(hook_event_name="UserPromptSubmit", prompt="run it"))
    run(program, ["hook", "claude"],
        payload(hook_event_name="PostToolUseFailure", error="Exit code 101\nfailed", **call))
    run(program, ["hook", "claude"], "no payload")
    run(program, ["ingest", str(histories)])
    imported = os.environ.get("FIRST_FORNAX_DB")
    for args in (["usage"], ["verify", "--project", "/"], ["search", "run"],
                 ["export-spool", "--all", "--out", "spool"], ["ingest", imported] if imported else ["sessions"]):
        run(program, args)


def main():
    program = str(Path(sys.argv[1]).resolve())
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else HERE / "fixtures/databases")
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(mode=0o700)
    record(program)
    store = sqlite3.connect(SCRATCH / "home/store.db")
    names = store.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                          "'sqlite_%' AND name NOT LIKE 'search_%' ORDER BY name")
    empty = []
    for (table,) in names.fetchall():
        count = f"SELECT count(*) FROM {table}"
        if store.execute(count).fetchone()[0] == 0 and table in PLANTED:
            store.execute(PLANTED[table])
            store.commit()
        rows = store.execute(count).fetchone()[0]
        print(f"{table:20} {rows}")
        empty += [table] if rows == 0 else []
    if empty:
        sys.exit(f"without a row: {', '.join(empty)}")
    version = store.execute("PRAGMA user_version").fetchone()[0]
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"v{version}.db"
    if made.exists():
        sys.exit(f"{made} is there already; a released one is never made again")
    # Most tables hold a row or two: small pages keep the file small.
    store.execute("PRAGMA page_size = 1024")
    store.execute("VACUUM INTO ?", (str(made),))
    store.close()
    print(f"{made}: {made.stat().st_size} bytes")
    shutil.rmtree(SCRATCH)


if __name__ == "__main__":
    main()
