#!/usr/bin/env bash
# The release binary beside its budgets. Builds the generator of histories, keeps them in
# target/bench-data. BENCH_SIZE_MB=64 for a quick run; names of parts (processes histories tailing
# memory draining) run only these.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
fornax=${1:-$here/dist/fornax}
shift || true
host=$(rustc -vV | sed -n 's/^host: //p')
# The same flags as `make build`, so that what it compiled is used again.
case $host in *linux*) export RUSTFLAGS="-C target-feature=+crt-static" ;; esac
(cd "$here" && cargo build --release --locked --target "$host" --example generate_history)
exec python3 "$here/scripts/bench.py" "$fornax" \
    "$here/target/$host/release/examples/generate_history" "$here/target/bench-data" "$@"
