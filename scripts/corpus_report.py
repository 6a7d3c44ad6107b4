#!/usr/bin/env python3
"""Reads a folder of real histories with the release binary and writes the figures as Markdown.

Usage: corpus_report.py FORNAX FOLDER REPORT. Names files relative to FOLDER; copies no content.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter


def run(fornax, env, *args):
    return subprocess.run([fornax, *args], env=env, capture_output=True, text=True, check=False)


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    out += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(out) + "\n"


def tally(counts):
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def usage_check(folder):
    """What the independent count found; it explains its differences itself."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with tempfile.NamedTemporaryFile(suffix=".md") as figures:
        env = dict(os.environ, FORNAX_CORPUS=folder, FORNAX_FIGURES=figures.name)
        subprocess.run(["cargo", "test", "--locked", "--quiet", "--test", "it", "usage_check"],
                       env=env, cwd=root, capture_output=True, check=False)
        return open(figures.name, encoding="utf-8").read()


def main():
    fornax, folder, report = (os.path.abspath(arg) for arg in sys.argv[1:4])
    if not os.path.isdir(folder):
        sys.exit(f"no folder {folder}; name one with CORPUS=...")
    with tempfile.TemporaryDirectory() as scratch:
        env = {"PATH": os.environ["PATH"], "HOME": scratch, "FORNAX_HOME": scratch + "/fornax"}
        timed = subprocess.run(["/usr/bin/time", "-v", fornax, "ingest", folder, "--json"],
                               env=env, capture_output=True, text=True, check=True)
        first = json.loads(timed.stdout)
        peak = int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", timed.stderr)[1]) / 1024
        again = json.loads(run(fornax, env, "ingest", folder, "--json").stdout)
        sessions = json.loads(run(fornax, env, "sessions", "--json").stdout)["sessions"]
        losses = json.loads(run(fornax, env, "losses", "--json").stdout)
        verdicts, contradicted = Counter(), []
        kinds = {}
        for session in sessions:
            shown = json.loads(run(fornax, env, "show", session["conversation"], "--json").stdout)
            by_kind = kinds.setdefault(session["provider"], Counter())
            by_kind.update(event["kind"] for event in shown["events"])
            by_kind.update("evidence " + row["kind"] for row in shown["evidence"])
            by_kind["claim"] += len(shown["claims"])
            for finding in shown["findings"]:
                verdicts[finding["claim"]["subject"], finding["verdict"], finding["reason"]] += 1
                if finding["verdict"] == "contradicted":
                    contradicted.append(finding["id"])
    relative = lambda path: os.path.relpath(path, folder)
    out = ["# Corpus report", "",
           "Figures of one run of the static release binary over a folder of real, anonymised files of",
           "many versions of both agents (`make corpus-report`). Kept current by that target.", ""]
    seconds = first["duration_ms"] / 1000
    out.append(table(["figure", "value"], [
        ["sources read", first["sources"]],
        ["lines", first["lines"]],
        ["bytes", first["bytes"]],
        ["time", f"{seconds:.2f} s"],
        ["throughput", f"{first['bytes'] / 1e6 / seconds:.0f} MB/s"],
        ["peak memory", f"{peak:.0f} MiB"],
        ["conversations", len(sessions)],
        ["files that no adapter claims", first["not_recognised"]],
        ["lines in quarantine", first["quarantined"]],
        ["second run: sources read, records stored",
         f"{again['sources']}, {again['stored']['inserted']}"],
    ]))
    out += ["## Records", "", table(["record", "count"], tally(first["records"]))]
    for provider, counts in sorted(kinds.items()):
        out += [f"## What was recorded of {provider}", "", table(["kind", "count"], tally(counts))]
    out += ["## Ignored: known shapes, deliberately not translated", "",
            table(["reason", "lines"], tally(first["ignored"]))]
    out += ["## Files left alone", "", table(["reason", "files"], tally(first["skipped"]))]
    out += ["## Unrecognised tags", "",
            "None of these is named by the format documents; most stand in other tools' handwritten",
            "test files.", "", table(["tag", "count"], tally(first["unrecognized"]))]
    out += ["## Losses by reason", "", table(["reason", "rows"], tally(first["losses"]))]
    out += ["## Quarantine: each line that does not parse", "",
            table(["file", "byte", "bytes", "reason"],
                  [[relative(q["source"]), q["offset"], q["length"], q["reason"]]
                   for q in losses["quarantine"]])]
    torn = [loss for loss in losses["losses"] if loss["reason"] == "line_torn"]
    out += ["## Torn last lines, withheld", "",
            table(["file"], [[relative(loss["source"])] for loss in torn])]
    out += ["## Verdicts", "",
            f"{sum(verdicts.values())} claims; {len(contradicted)} contradicted. Every `verified` was",
            "read by hand against the command that it rests on when the verifiers were made.", "",
            table(["subject", "verdict", "reason", "claims"],
                  [[s, v, r, n] for (s, v, r), n in tally(verdicts)])]
    out += ["## Token usage, counted a second time", "",
            "`tests/it/usage_check.rs` counts the tokens of every file in another way and compares them with",
            "`fornax usage`, by model: each file alone in an empty home, then the whole folder at once.", "",
            usage_check(folder)]
    with open(report, "w", encoding="utf-8") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    main()
