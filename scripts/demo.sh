#!/usr/bin/env bash
# The main job end to end, in a scratch home: hooks, tail, ingest, sessions, show, verify, export.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
fornax=${FORNAX_BIN:-$here/dist/fornax}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/user FORNAX_HOME=$scratch/fornax XDG_RUNTIME_DIR=$scratch/run
export CLAUDE_CONFIG_DIR=$HOME/.claude CODEX_HOME=$HOME/.codex
project=$HOME/demo
mkdir -p "$project/src" "$XDG_RUNTIME_DIR" "$CLAUDE_CONFIG_DIR/projects/demo" "$CODEX_HOME/sessions/2026/12/01"
minute=$(date -u +%Y-%m-%dT%H:%M)
fill() { sed -e "s|@HOME@|$HOME|g" -e "s|@PROJECT@|$project|g" -e "s|@MINUTE@|$minute|g" "$here/fixtures/demo/$1"; }
say() { printf '\n== %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }
cd "$project"
PATH=$(dirname "$fornax"):$PATH

say "1. Claude Code runs: each hook hands one payload to \`fornax hook claude\`, which prints nothing."
fill claude_hooks.jsonl | while IFS= read -r payload; do printf '%s\n' "$payload" | fornax hook claude; done
ls -l "$FORNAX_HOME/journal" | awk 'NR > 1 { print "   journal:", $5, "bytes", $9 }'

say "2. Codex runs: \`fornax tail\` follows its rollout while Codex appends to it."
rollout=$CODEX_HOME/sessions/2026/12/01/rollout-demo-01a1de00-0000-7000-8000-000000000001.jsonl
fill codex_rollout.jsonl > "$scratch/rollout"
head -n 3 "$scratch/rollout" > "$rollout"
printf '$ fornax tail %s\n' "$(basename "$rollout")"
fornax tail "$rollout" & tail_pid=$!
tail -n +4 "$scratch/rollout" | while IFS= read -r line; do sleep 0.2; printf '%s\n' "$line" >> "$rollout"; done
sleep 1
kill "$tail_pid"; wait "$tail_pid" 2>/dev/null || true

say "3. Claude Code has written its transcript by now; ingest reads both agents' histories."
fill claude_transcript.jsonl > "$CLAUDE_CONFIG_DIR/projects/demo/demo-claude-0001.jsonl"
run fornax ingest

say "4. What was recorded. The hook's and the transcript's tellings of one call are one event."
run fornax sessions

say "5. One session as a story."
run fornax show demo-claude-0001

say "6. What the agents claim, checked: Claude Code said that all tests pass."
run fornax verify demo-claude-0001
echo
run fornax verify 01a1de00

say "7. As a gate: exit status 1 means contradicted."
printf '$ fornax verify demo-claude-0001 --exit-code\n'
status=0; fornax verify demo-claude-0001 --exit-code > /dev/null || status=$?
echo "   exit status $status"

say "8. The records as JSON files, one each, for other tools."
run fornax export-spool --session demo-claude-0001 --out spool
first=$(find spool/pending -name '*.json' | sort | head -n 1)
printf '   %s: ' "$(basename "$first")"; head -c 160 "$first"; echo ' ...'
test "$status" = 1
say "Done. Everything was in $scratch and is removed now."
