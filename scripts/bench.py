#!/usr/bin/env python3
"""Whole-process latency and ingest throughput of the release binary.

Every latency is measured beside /bin/true in the same, interleaved run, so that the ratio means
something on a busy machine. Prints one table: figure, measured, compared with, ratio, budget.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 400
PAYLOAD = {
    "session_id": "bench", "transcript_path": "/t.jsonl", "cwd": "/w", "prompt_id": "p1",
    "permission_mode": "default", "hook_event_name": "PostToolUse", "tool_name": "Bash",
    "tool_input": {"command": "cargo test"}, "tool_use_id": "toolu_1",
    "tool_response": {"stdout": "test result: ok. 3 passed; 0 failed\n" + "line of output\n" * 110,
                      "stderr": "", "interrupted": False},
}


def once(command, payload, env):
    start = time.perf_counter()
    with open(payload, "rb") as stdin:
        subprocess.run(command, stdin=stdin, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=env, check=False)
    return (time.perf_counter() - start) * 1e3


def compare(commands, payload, env):
    times = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(once(command, payload, env))
    return {name: sorted(values) for name, values in times.items()}


def transcript(path, megabytes):
    """A history in the shapes and proportions of real ones, all words synthetic."""
    text = "the parser reads one line at a time and keeps its place " * 12
    output = "running 12 tests\n" + "test some::module::case ... ok\n" * 60
    with open(path, "w", encoding="utf-8") as out:
        number = 0
        while out.tell() < megabytes * 1_000_000:
            number += 1
            head = {"isSidechain": False, "timestamp": "2026-11-20T10:%02d:%02d.000Z" %
                    (number // 60 % 60, number % 60), "sessionId": os.path.basename(path)[:-6],
                    "cwd": "/w", "version": "2.1.300", "gitBranch": "main"}
            message = {"id": f"msg_{number}", "role": "assistant", "model": "m", "stop_reason": None,
                       "usage": {"input_tokens": 4, "cache_creation_input_tokens": 900,
                                 "cache_read_input_tokens": 15000, "output_tokens": 210}}
            lines = [
                dict(head, type="assistant", uuid=f"a{number}", message=dict(
                    message, content=[{"type": "text", "text": text}])),
                dict(head, type="assistant", uuid=f"b{number}", message=dict(
                    message, content=[{"type": "tool_use", "id": f"toolu_{number}", "name": "Bash",
                                       "input": {"command": f"cargo test case_{number}"}}])),
                dict(head, type="user", uuid=f"c{number}", message={"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": output}]},
                     toolUseResult={"stdout": output, "stderr": "", "interrupted": False}),
                dict(head, type="progress", uuid=f"d{number}",
                     data={"type": "bash_progress", "output": output}),
            ]
            for line in lines:
                out.write(json.dumps(line, separators=(",", ":")) + "\n")


def main():
    fornax = os.path.abspath(sys.argv[1])
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        env = {"PATH": os.environ["PATH"], "HOME": scratch,
               "FORNAX_HOME": os.path.join(scratch, "fornax")}
        payload = os.path.join(scratch, "payload.json")
        with open(payload, "w", encoding="utf-8") as out:
            json.dump(PAYLOAD, out)
        times = compare({
            "true": ["/bin/true"],
            "hook": [fornax, "hook", "claude"],
            "hook --fsync": [fornax, "hook", "claude", "--fsync"],
            "--version": [fornax, "--version"],
        }, payload, env)
        base = statistics.median(times["true"])
        for name, budget in (("hook", 1.6), ("hook --fsync", 2.2), ("--version", 1.3)):
            values = times[name]
            middle = statistics.median(values)
            tail = values[int(len(values) * 0.99)]
            rows.append((f"{name}, median (p99)", f"{middle:.2f} ms ({tail:.2f})",
                         f"/bin/true {base:.2f} ms", f"{middle / base:.2f}", f"<= {budget}"))
        histories = os.path.join(scratch, "histories")
        os.mkdir(histories)
        for number in range(4):
            transcript(os.path.join(histories, f"session-{number}.jsonl"), 50)
        env["FORNAX_HOME"] = os.path.join(scratch, "fornax2")
        for name in ("cold ingest of 200 MB", "ingest with nothing new"):
            start = time.perf_counter()
            done = subprocess.run(["/usr/bin/time", "-f", "%M", fornax, "ingest", histories, "--json"],
                                  env=env, capture_output=True, text=True, check=True)
            took = time.perf_counter() - start
            peak = int(done.stderr.strip().splitlines()[-1]) / 1024
            summary = json.loads(done.stdout)
            if summary["bytes"]:
                rows.append((name, f"{took:.2f} s, peak {peak:.0f} MiB", "200 MB",
                             f"{summary['bytes'] / 1e6 / took:.0f} MB/s", ">= 150 MB/s, <= 96 MiB"))
            else:
                rows.append((name, f"{took * 1e3:.0f} ms", "", "", "<= 100 ms"))
    header = ("figure", "measured", "compared with", "ratio", "budget")
    widths = [max(len(row[i]) for row in rows + [header]) for i in range(5)]
    for row in [header] + rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main()
