#!/usr/bin/env bash
# Builds fuzz targets with coverage on the stable toolchain and runs each for some seconds.
# Usage: fuzz.sh [--if-possible] [SECONDS] [TARGET...]; all targets when none is named. Seeds come
# from fixtures/. With --if-possible, a machine that cannot build them is a printed reason.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
lenient=false
if [ "${1:-}" = --if-possible ]; then
  lenient=true
  shift
fi
seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in "$here"/fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

cannot() {
  echo "no fuzzing: $1"
  if $lenient; then exit 0; else exit 1; fi
}
command -v c++ > /dev/null || cannot "no C++ compiler for the fuzzer's runtime"
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
# shellcheck disable=SC2086
echo 'fn main() {}' | rustc $coverage --crate-type lib --emit=obj -o /dev/null - 2> /dev/null \
  || cannot "this rustc cannot compile with coverage"

host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="$coverage -Ccodegen-units=1 -Cdebug-assertions=on"
bins=()
for target in "${targets[@]}"; do bins+=(--bin "$target"); done
cargo build --release --locked --manifest-path "$here/fuzz/Cargo.toml" --target "$host" "${bins[@]}"
built=${CARGO_TARGET_DIR:-$here/fuzz/target}/$host/release

# Runs one target and says what it came to; 1 is a finding.
fuzz_one() {
  local target=$1 status=0
  local corpus=$here/fuzz/corpus/$target artifacts=$here/fuzz/artifacts/$target
  local log=$artifacts.log
  mkdir -p "$corpus" "$artifacts"
  case $target in
    claude_transcript) cp -n "$here"/fixtures/agents/claude_code/*.jsonl "$corpus/" ;;
    codex_rollout) cp -n "$here"/fixtures/agents/codex/*.jsonl "$corpus/" ;;
    hook_payload)
      cat "$here"/fixtures/agents/*/hook*.jsonl | split -l 1 -a 4 - "$corpus/seed-" ;;
    prose_and_commands) split -l 1 -a 4 "$here/fixtures/claims/sentences.jsonl" "$corpus/seed-" ;;
  esac
  "$built/$target" "$corpus" -artifact_prefix="$artifacts/" -max_total_time="$seconds" \
    -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 > "$log" 2>&1 || status=$?
  echo "== $target, $seconds s"
  grep -E "ERROR|SUMMARY|stat::number_of_executed|stat::new_units|panicked" "$log" || true
  if [ "$status" -ne 0 ] || compgen -G "$artifacts/*" > /dev/null; then
    tail -n 20 "$log" >&2
    echo "a finding is in fuzz/artifacts/$target" >&2
    return 1
  fi
}

# As many at once as there are cores.
cores=$(nproc 2> /dev/null || echo 1)
found=0
running=()
finish_first() {
  wait "${running[0]}" || found=1
  running=("${running[@]:1}")
}
for target in "${targets[@]}"; do
  if [ ${#running[@]} -ge "$cores" ]; then finish_first; fi
  fuzz_one "$target" &
  running+=($!)
done
while [ ${#running[@]} -gt 0 ]; do finish_first; done
exit "$found"
