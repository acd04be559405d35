#!/usr/bin/env python3
"""What CUPTI tells of two small jobs, on one machine and on another.

usage: golden.py record PYTHON OBSERVER DIR   runs the jobs with PYTHON, the observer within
       golden.py compare DIR DIR              prints what differs; status 1 if anything does

A record on hardware is the golden one that the simulation must be like: the same calls in the same
order, and for each call the same kinds of activities. Times, ids and the names of kernels are the
hardware's own business.
"""
import collections
import difflib
import os
import pathlib
import shutil
import subprocess
import sys

JOBS = pathlib.Path(__file__).resolve().parents[2] / "e2e/simgpu/jobs"
NAMED = {"train": ["train.py", "3"], "graph": ["graph.py"]}
CALLS = ("runtime", "driver")
LINES = 60  # of a job's differences that are printed


def record(python, observer, directory):
    directory = pathlib.Path(directory).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    # Beside it lies the simulation's libcupti, which it must not find on hardware.
    own = shutil.copy(observer, directory)
    for name, command in NAMED.items():
        for old in directory.glob(f"{name}.*"):
            old.unlink()
        env = dict(os.environ, CUDA_INJECTION64_PATH=own, OBSERVER_OUT=str(directory / name))
        subprocess.run([python, JOBS / command[0], *command[1:]], env=env, check=True,
                       stdout=subprocess.DEVNULL, timeout=300)
    os.unlink(own)


def read(directory, name):
    """Rows of the job's observation: kind, device, stream, start, end, correlation, bytes, graph,
    name."""
    path, = pathlib.Path(directory).glob(f"{name}.*")
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return [row for row in rows if len(row) == 9]


def activity(row):
    kind, name = row[0], row[8]
    part = " of a graph" if row[7] != "0" else ""
    return kind + part if kind in ("kernel", "sync") else f"{kind} {name} {row[6]} bytes{part}"


def told(directory, name):
    """A line per call, in the order of their begins, with what the device did for it."""
    rows = read(directory, name)
    caused = collections.defaultdict(collections.Counter)
    for row in rows:
        if row[0] not in CALLS:
            caused[row[5]][activity(row)] += 1
    calls = sorted((row for row in rows if row[0] in CALLS), key=lambda row: int(row[3]))
    lines = []
    for row in calls:
        did = caused.pop(row[5], {})
        lines.append(f"{row[0]} {row[8]}" + "".join(f", {cnt} x {what}"
                                                     for what, cnt in sorted(did.items())))
    return lines + [f"by no call: {cnt} x {what}"
                    for did in caused.values() for what, cnt in sorted(did.items())]


def compare(ours, theirs):
    """How many jobs differ."""
    differ = 0
    for name in NAMED:
        a, b = told(ours, name), told(theirs, name)
        if not any(", " in line for line in a + b):
            sys.exit(f"{name}: no call had an activity: nothing was observed")
        print(f"{name}: {len(a)} and {len(b)} calls")
        for line in sorted(set(a) | set(b)):
            if a.count(line) != b.count(line):
                print(f"  {a.count(line):6} {b.count(line):6}  {line}")
        changes = list(difflib.unified_diff(a, b, str(ours), str(theirs), "", "", 2, ""))
        for line in changes[:LINES]:
            print(f"    {line}")
        if len(changes) > LINES:
            print(f"    ... and {len(changes) - LINES} more")
        differ += a != b
    return differ


def main(command, *args):
    if command == "record" and len(args) == 3:
        record(*args)
    elif command == "compare" and len(args) == 2:
        sys.exit(1 if compare(*args) else 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*(sys.argv[1:] or [""]))
