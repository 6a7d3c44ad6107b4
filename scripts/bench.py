#!/usr/bin/env python3
"""Figures of the release binary beside the budgets, one table.

usage: bench.py FORNAX GENERATOR DATA_FOLDER

What can be compared is measured beside something plain in the same run (/bin/true, `wc -l` over the
same bytes, a pipe through `cat`), so that the ratio means something on a busy machine. The history
is generated once and kept in DATA_FOLDER. BENCH_SIZE_MB (default 1024) is its size; a smaller one
makes a quick run, whose budgets are those of the large one.
"""
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROUNDS = 200
SEED = 1
SIZE_MB = int(os.environ.get("BENCH_SIZE_MB", "1024"))
APPENDS = 400
IDLE_SECONDS = 10
PAYLOAD = {
    "session_id": "bench", "transcript_path": "/t.jsonl", "cwd": "/w", "prompt_id": "p1",
    "permission_mode": "default", "hook_event_name": "PostToolUse", "tool_name": "Bash",
    "tool_input": {"command": "cargo test"}, "tool_use_id": "toolu_1",
    "tool_response": {"stdout": "test result: ok. 3 passed; 0 failed\n" + "line of output\n" * 110,
                      "stderr": "", "interrupted": False},
}


class Bench:
    """The binary, the data, and the rows of the table."""

    def __init__(self, fornax, generator, data, scratch):
        self.fornax = os.path.abspath(fornax)
        self.generator = os.path.abspath(generator)
        self.data = Path(data).absolute()
        self.scratch = Path(scratch)
        self.rows = []

    def row(self, figure, measured, beside, ratio, budget, met):
        self.rows.append((figure, measured, beside, ratio, budget,
                          "" if met is None else "yes" if met else "NO"))
        print(".", end="", flush=True, file=sys.stderr)

    def home(self, name):
        return {"PATH": os.environ["PATH"], "HOME": str(self.scratch / "nobody"),
                "FORNAX_HOME": str(self.scratch / name)}

    def generated(self, name, *arguments):
        """A generated file, folder or home; made only where it is not there already."""
        mark = self.data / f"{name}.json"
        wanted = json.dumps([list(map(str, arguments)), SEED, os.stat(self.generator).st_size])
        target = self.data / name
        if not (mark.exists() and mark.read_text() == wanted):
            shutil.rmtree(target, ignore_errors=True)
            target.unlink(missing_ok=True)
            self.data.mkdir(parents=True, exist_ok=True)
            what, *amount = map(str, arguments)
            subprocess.run([self.generator, what, target, *amount, str(SEED)], check=True)
            mark.write_text(wanted)
        return target

    def timed(self, env, *arguments):
        """Runs fornax once: its JSON, wall seconds, CPU seconds, peak MiB."""
        start = time.perf_counter()
        done = subprocess.run(
            ["/usr/bin/time", "-f", "%U %S %M", self.fornax, *map(str, arguments)],
            env=env, capture_output=True, text=True, check=True)
        took = time.perf_counter() - start
        user, system, peak = done.stderr.strip().splitlines()[-1].split()
        out = json.loads(done.stdout) if "--json" in arguments else None
        return out, took, float(user) + float(system), int(peak) / 1024


def once(command, payload, env):
    start = time.perf_counter()
    with open(payload, "rb") as stdin:
        subprocess.run(command, stdin=stdin, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=env, check=False)
    return (time.perf_counter() - start) * 1e3


def compare(commands, payload, env, rounds=ROUNDS):
    """Sorted times in milliseconds of each command, interleaved."""
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(once(command, payload, env))
    return {name: sorted(values) for name, values in times.items()}


def at(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]


def processes(bench):
    """Whole processes beside /bin/true."""
    payload = bench.scratch / "payload.json"
    payload.write_text(json.dumps(PAYLOAD))
    times = compare({
        "true": ["/bin/true"],
        "hook": [bench.fornax, "hook", "claude"],
        "hook --fsync": [bench.fornax, "hook", "claude", "--fsync"],
        "--version": [bench.fornax, "--version"],
    }, payload, bench.home("hooks"))
    base = statistics.median(times["true"])
    for name, budget in (("hook", 1.6), ("hook --fsync", 2.2), ("--version", 1.3)):
        middle = statistics.median(times[name])
        bench.row(f"{name}, median (p99)", f"{middle:.2f} ms ({at(times[name], .99):.2f})",
                  f"/bin/true {base:.2f} ms", f"{middle / base:.2f}", f"<= {budget}",
                  middle / base <= budget)
    size = os.stat(bench.fornax).st_size / 1e6
    bench.row("size of the binary", f"{size:.1f} MB", "", "", "<= 15 MB", size <= 15)


def histories(bench):
    """Cold ingest, ingest with nothing new, and looks into the store that comes of it."""
    tree = bench.generated("tree", "tree", SIZE_MB)
    plain = [str(p) for p in tree.rglob("*.jsonl")]
    count = sum(1 for p in tree.rglob("*.jsonl*"))
    env = bench.home("histories")
    start = time.perf_counter()
    for first in range(0, len(plain), 500):
        subprocess.run(["wc", "-l", *plain[first:first + 500]], stdout=subprocess.DEVNULL,
                       check=True)
    wc_took = time.perf_counter() - start
    wc_rate = sum(os.stat(p).st_size for p in plain) / 1e6 / wc_took
    out, took, cpu, peak = bench.timed(env, "ingest", tree, "--json")
    rate = out["bytes"] / 1e6 / took
    bench.row(f"cold ingest, {out['bytes'] / 1e6:.0f} MB in {count} files", f"{rate:.0f} MB/s",
              f"wc -l {wc_rate:.0f} MB/s", f"{rate / wc_rate:.2f}", ">= 150 MB/s", rate >= 150)
    bench.row("  CPU of it", f"{cpu:.2f} s", f"wall {took:.2f} s", f"{cpu / took:.2f}", "", None)
    bench.row("  peak memory of it", f"{peak:.0f} MiB", "", "", "<= 96 MiB", peak <= 96)
    store = Path(env["FORNAX_HOME"]) / "store.db"
    size = store.stat().st_size / 1e6
    bench.row("  store written", f"{size:.0f} MB", f"history {out['bytes'] / 1e6:.0f} MB",
              f"{size * 1e6 / out['bytes']:.2f}", "", None)
    empty = bench.scratch / "empty"
    empty.touch()
    times = compare({
        "true": ["/bin/true"],
        "again": [bench.fornax, "ingest", str(tree), "--json"],
        "sessions": [bench.fornax, "sessions", "--json"],
    }, empty, env, 15)
    base = statistics.median(times["true"])
    again = statistics.median(times["again"])
    of_2000 = again * 2000 / max(count, 2000)
    bench.row(f"ingest with nothing new in {count} files", f"{again:.1f} ms",
              f"/bin/true {base:.2f} ms", f"{again / base:.1f}", "", None)
    bench.row("  of it for 2,000 files", f"{of_2000:.1f} ms", "", "", "<= 100 ms", of_2000 <= 100)
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
        events = db.execute("SELECT count(*) FROM event").fetchone()[0]
    listed = statistics.median(times["sessions"])
    bench.row(f"sessions on {events} events", f"{listed:.1f} ms", f"/bin/true {base:.2f} ms",
              f"{listed / base:.1f}", "<= 50 ms at 1 M", listed <= 50)
    idle_tail(bench, tree)


def idle_tail(bench, tree):
    """CPU of a `tail --all` over a history in which nothing happens."""
    env = dict(bench.home("histories"), CLAUDE_CONFIG_DIR=str(tree), CODEX_HOME=str(tree))
    child = subprocess.Popen([bench.fornax, "tail", "--all"], env=env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(5)
        before = cpu_of(child.pid)
        time.sleep(IDLE_SECONDS)
        used = cpu_of(child.pid) - before
    finally:
        child.kill()
        child.wait()
    bench.row(f"CPU of an idle tail --all in {IDLE_SECONDS} s", f"{used * 1e3:.0f} ms", "", "",
              "none", used <= 0.02)


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def follow(bench, command, path, line_of, env):
    """Appends lines one by one; sorted milliseconds until each stands in what `command` prints."""
    child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, bufsize=1)
    seen, arrived = {}, threading.Condition()

    def read():
        for text in child.stdout:
            now = time.perf_counter()
            with arrived:
                for word in text.split():
                    if word.startswith("append-"):
                        seen.setdefault(word, now)
                arrived.notify_all()

    threading.Thread(target=read, daemon=True).start()
    times = []
    try:
        time.sleep(1)
        with open(path, "a", encoding="utf-8", buffering=1) as out:
            for number in range(APPENDS):
                mark = f"append-{number}"
                start = time.perf_counter()
                out.write(line_of(number, mark) + "\n")
                with arrived:
                    arrived.wait_for(lambda: mark in seen, timeout=5)
                times.append((seen.get(mark, start + 5) - start) * 1e3)
                time.sleep(0.005)
    finally:
        child.kill()
        child.wait()
    return sorted(times)


def tailing(bench):
    """From the append of a line to its record, stored and printed."""
    session = "0b5e7a51-5a3e-4c0b-9d43-5b6f4f6f0001"

    def line_of(number, mark):
        return json.dumps({
            "type": "user", "uuid": f"0b5e7a51-5a3e-4c0b-9d43-{number:012}", "sessionId": session,
            "parentUuid": None, "isSidechain": False, "cwd": "/w", "version": "2.1.170",
            "timestamp": f"2026-11-02T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "message": {"role": "user", "content": f"please look at {mark} now"}})

    path = bench.scratch / f"{session}.jsonl"
    path.write_text(line_of(999_999, "first") + "\n")
    times = follow(bench, [bench.fornax, "tail", str(path)], path, line_of, bench.home("tailing"))
    beside = bench.scratch / "beside.txt"
    beside.write_text("")
    plain = follow(bench, ["tail", "-f", str(beside)], beside, lambda _, mark: mark, None)
    for name, share in (("p50", .5), ("p99", .99), ("max", 1)):
        mine, other = at(times, share), at(plain, share)
        bench.row(f"append -> printed by tail, {name} of {APPENDS}", f"{mine:.2f} ms",
                  f"tail -f {other:.2f} ms", f"{mine / other:.2f}",
                  "<= 20 ms" if name == "p99" else "", mine <= 20 if name == "p99" else None)


def memory(bench):
    """Peak memory against the size of a file and of its longest line."""
    for megabytes in sorted({1, 64, min(SIZE_MB, 1024)}):
        path = bench.generated(f"single-{megabytes}.jsonl", "single", megabytes)
        _, took, _, peak = bench.timed(bench.home(f"single-{megabytes}"), "ingest", path, "--json")
        bench.row(f"peak memory, one file of {megabytes} MB", f"{peak:.0f} MiB",
                  f"{megabytes / took:.0f} MB/s", "", "<= 96 MiB", peak <= 96)
    for length, cap in ((8 << 20, None), (100_000_000, None), (100_000_000, 128 << 20)):
        path = bench.generated(f"line-{length}.jsonl", "long-line", length)
        more = ["--line-cap", cap] if cap else []
        home = bench.home(f"line-{length}-{cap}")
        _, _, _, peak = bench.timed(home, "ingest", path, "--json", *more)
        read = length > 8 << 20 and cap
        budget = 96 + (1.5 * length / (1 << 20) if read else 0)
        word = "" if length <= 8 << 20 else ", read" if read else ", over the cap"
        bench.row(f"peak memory, a line of {length / 1e6:.0f} MB{word}", f"{peak:.0f} MiB", "", "",
                  f"<= {budget:.0f} MiB", peak <= budget)


def draining(bench):
    """A journal of many payloads into the store."""
    payloads = max(2_000, min(100_000, SIZE_MB * 100))
    made = bench.generated(f"journal-{payloads}", "journal", payloads)
    home = bench.scratch / "draining"
    shutil.copytree(made, home)
    _, took, _, peak = bench.timed(bench.home("draining"), "losses", "--json")
    with sqlite3.connect(f"file:{home / 'store.db'}?mode=ro", uri=True) as db:
        stored = sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0]
                     for t in ("sighting", "evidence", "usage", "claim", "fact", "loss"))
    bench.row(f"drain of {payloads} payloads", f"{stored / took:.0f} records/s",
              f"{payloads / took:.0f} payloads/s", "", ">= 100000 records/s",
              stored / took >= 100_000)
    bench.row("  peak memory of it", f"{peak:.0f} MiB", "", "", "<= 96 MiB", peak <= 96)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_TMP")) as scratch:
        bench = Bench(sys.argv[1], sys.argv[2], sys.argv[3], scratch)
        parts = {"processes": processes, "histories": histories, "tailing": tailing,
                 "memory": memory, "draining": draining}
        for name in sys.argv[4:] or parts:
            parts[name](bench)
    print(file=sys.stderr)
    header = ("figure", "measured", "compared with", "ratio", "budget", "met")
    widths = [max(len(row[i]) for row in bench.rows + [header]) for i in range(len(header))]
    for row in [header] + bench.rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main()
