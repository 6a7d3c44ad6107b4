#!/usr/bin/env bash
# Whole-process figures of the release binary, each beside /bin/true in the same run.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$here/scripts/bench.py" "${1:-$here/dist/fornax}"
