#!/usr/bin/env bash
# Builds the fuzz targets with coverage on the stable toolchain and runs each for some seconds.
# Usage: fuzz.sh [SECONDS] [TARGET...]. Seeds come from fixtures/.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-60}
shift || true
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Ccodegen-units=1 -Cdebug-assertions=on"
cargo build --release --manifest-path "$here/fuzz/Cargo.toml" --target "$host"
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in "$here"/fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi
for target in "${targets[@]}"; do
  corpus=$here/fuzz/corpus/$target
  mkdir -p "$corpus" "$here/fuzz/artifacts/$target"
  case $target in
    claude_transcript) cp -n "$here"/fixtures/agents/claude_code/*.jsonl "$corpus/" ;;
    codex_rollout) cp -n "$here"/fixtures/agents/codex/*.jsonl "$corpus/" ;;
    hook_payload)
      cat "$here"/fixtures/agents/*/hook*.jsonl | split -l 1 -a 4 - "$corpus/seed-" ;;
    prose_and_commands) split -l 1 -a 4 "$here/fixtures/claims/sentences.jsonl" "$corpus/seed-" ;;
  esac
  echo "== $target, $seconds s"
  "$here/${CARGO_TARGET_DIR:-fuzz/target}/$host/release/$target" "$corpus" \
    -artifact_prefix="$here/fuzz/artifacts/$target/" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 2>&1 | grep -E "ERROR|SUMMARY|stat::number_of_executed|stat::new_units|panicked" || true
  if compgen -G "$here/fuzz/artifacts/$target/*" > /dev/null; then
    echo "a finding is in fuzz/artifacts/$target" >&2
    exit 1
  fi
done
