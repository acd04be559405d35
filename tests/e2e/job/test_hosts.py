# SPDX-License-Identifier: BSD-2-Clause
"""Ranks of one job on hosts whose clocks differ, recorded by a proftrace on each host."""
import json
import re
import subprocess
import time

from lib.host import host
from lib.runner import test
from lib.tool import PROFTRACE, events
from test_job import Launched

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
HOUR_NS = 3600 * 10 ** 9
AHEAD_NS = {"node-a": 0, "node-b": 35_000_000, "node-c": 3 * HOUR_NS + 250_000_000}
STEPS = 40


def ns(number, unit):
    return float(number) * UNITS[unit]


def offsets(notes):
    """Returns host -> offset and uncertainty, as a report says."""
    pattern = (r"The clock of (\S+) \(rank \d\) is ([\d.]+) (\w+) (ahead of|behind) that of node-a \(rank 0\), with an "
               r"uncertainty of ([\d.]+) (\w+), by the ends of (\d+) collectives\. This report corrects it\.")
    found = [m.groups() for m in (re.match(pattern, note) for note in notes) if m]
    assert all(int(cnt) >= STEPS - 5 for *_, cnt in found), found
    return {name: ((1 if way == "ahead of" else -1) * ns(number, unit), ns(error, error_unit))
            for name, number, unit, way, error, error_unit, _ in found}


def report(*files):
    return json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", *map(str, files)], text=True, check=True,
                                     capture_output=True).stdout)


def ends(path):
    return [e["ts_ns"] + e["dur_ns"] for e in events(path) if e["type"] == "async" and "all_reduce" in e["name"]]


def wall_offset(*command):
    done = subprocess.run([PROFTRACE, "export", "--format", "jsonl", "-o", "-", *map(str, command)], text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout.split("\n", 1)[0])["wall_offset_ns"], done.stderr


def check_traces(case, files):
    """--clock-of: the trace of each has the first one's clock."""
    first_ns, _ = wall_offset(files[0])
    for file, ahead_ns in zip(files[1:], list(AHEAD_NS.values())[1:]):
        own_ns, _ = wall_offset(file)
        corrected_ns, said = wall_offset("--clock-of", files[0], file)
        assert abs(own_ns - first_ns - ahead_ns) < 1e6 and abs(corrected_ns - first_ns) < 6e6, (own_ns, corrected_ns)
        assert "the trace corrects it" in said, said
    trace = case.dir / "trace.json"
    subprocess.run([PROFTRACE, "export", "--clock-of", files[0], "-o", trace, files[1]], check=True)
    base_ns = json.loads(trace.read_text())["baseTimeNanoseconds"]
    subprocess.run([PROFTRACE, "export", "-o", trace, files[1]], check=True)
    assert abs(json.loads(trace.read_text())["baseTimeNanoseconds"] - base_ns - AHEAD_NS["node-b"]) < 6e6, base_ns
    assert "are of one host" in wall_offset("--clock-of", files[0], files[0])[1]


@test("hosts whose clocks differ by 35 ms and by hours: the same moment, and the offsets by collectives")
def clocks_differ(case):
    job = Launched(case, "--slow-rank", 1, "--slow-ms", 40, "--uneven-ms", 60)
    at = int(time.time()) + 8
    tools = [case.tool("-p", pid, "--start-at", f"@{at + ahead_ns // 10 ** 9}", "--record", f"0:{STEPS}", "--no-trace",
                       wrap=host(case, name, ahead_ns))
             for pid, (name, ahead_ns) in zip(job.pids(), AHEAD_NS.items())]
    files = [tool.done(120).recordings()[0] for tool in tools]
    assert all(file.name.startswith(name) for file, name in zip(files, AHEAD_NS)), files
    tables = report(*files)
    notes = tables["ranks"]["notes"]
    found = offsets(notes)
    assert list(found) == ["node-b", "node-c"], notes
    for name, (offset_ns, error_ns) in found.items():
        digits_ns = 0 if offset_ns < 1e9 else 0.5e6
        assert abs(offset_ns - AHEAD_NS[name]) < max(error_ns, 200e3) + digits_ns, (name, found)
        assert error_ns < 10e6, found
    assert not any("do not overlap" in note for note in notes), notes
    assert tables["straggler"]["rows"][0]["straggler"] == 1, tables["straggler"]
    check_traces(case, files)
    # All on this machine's monotonic clock, by which the ends of common collectives are together.
    first, *others = map(ends, files)
    for other in others:
        near = [min(abs(end - e) for e in first) for end in other[5:-5]]
        assert sorted(near)[len(near) // 2] < 5e6, near


@test("hosts with few common steps: the report says that it uses the clock as it is")
def few_steps(case):
    job = Launched(case, "--uneven-ms", 60, ranks=2)
    at = int(time.time()) + 8
    tools = [case.tool("-p", pid, "--start-at", f"@{at}", "--record", "0:3", "--no-trace", wrap=host(case, name, ahead_ns))
             for pid, name, ahead_ns in zip(job.pids(), ("node-a", "node-b"), (0, 35_000_000))]
    notes = report(*(tool.done(120).recordings()[0] for tool in tools))["ranks"]["notes"]
    assert any(note.startswith("The clock of node-b (rank 1) is used as it is: the ranks have too few steps")
               for note in notes), notes
    assert not offsets(notes), notes
