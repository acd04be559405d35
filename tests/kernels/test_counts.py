# SPDX-License-Identifier: BSD-2-Clause
"""Counts of eight steps of a training job, at each level of detail and by each way to attach."""
import functools
import json
import os
import re
import subprocess

from lib.process import Snapshot
from lib.runner import Skip, test
from lib.tool import PROFTRACE

LEVELS = ("phase", "operator", "inner")
TABLES = ("model", "operator", "userdefined")


@functools.cache
def abilities():
    out = subprocess.run([PROFTRACE, "doctor", "--format", "json"], capture_output=True, text=True)
    return json.loads(out.stdout)["machine"]


def counts(tables):
    found = {}
    for table in TABLES:
        for row in tables.get(table, {"rows": []})["rows"]:
            key = f"{table}: {row['name']}"
            found[key] = found.get(key, 0) + (row.get("calls") or 0)
    return found


def compare(level, found):
    """Compares with the counts of another kernel: COUNTS/LEVEL.json."""
    directory = os.environ.get("COUNTS")
    if not directory:
        raise Skip("COUNTS names no directory of counts to compare with")
    path = f"{directory}/{level}.json"
    if os.environ.get("COUNTS_WRITE"):
        with open(path, "w") as file:
            json.dump(found, file)
        return
    with open(path) as file:
        expected = json.load(file)
    differ = {k: (expected.get(k), found.get(k)) for k in {*expected, *found}
              if expected.get(k) != found.get(k)}
    assert not differ, f"there and here: {differ}"


def took(err, what):
    found = re.findall(rf"{what} in ([0-9.]+) ms", err)
    return f"{what} in {'/'.join(found)} ms" if found else f"{what}: - (not said)"


def record(case, level, method):
    # No epoch ends in the window: the loader would be asked once more there.
    job = case.job("mlp_train.py", "--samples", 1 << 20).wait_steps(5)
    before = Snapshot(job.pid)
    # All of the kernel's verifier's work is done at the last level.
    more = ("--record-shapes", "--profile-memory") if level == "inner" else ()
    tool = case.tool("-p", job.pid, "--record", "2:10", "--detail", level, "--no-prune", "--verbose", *more,
                     "--no-trace", "--no-report", "--attach-method", method).done()
    print(f"        {level}, {method}: {took(tool.err, 'attached')}, {took(tool.err, 'detached')}",
          flush=True)
    before.check()
    tables = tool.report()
    summary = tables["summary"]["rows"][0]
    assert summary["steps"] == 8 and not summary.get("events_lost"), summary
    job.wait_steps(3)
    compare(level, counts(tables))


def register(level, method):
    @test(f"counts at --detail {level}, --attach-method {method}")
    def check(case):
        if method == "multi" and not abilities()["uprobe_multi"]:
            raise Skip("this kernel has no uprobe multi links that reach all threads")
        record(case, level, method)


for each_level in LEVELS:
    for each_method in ("multi", "perf"):
        register(each_level, each_method)


@test("no trace event of a probe is left", alone=True)
def trace_events(_):
    if os.environ.get("COUNTS_WRITE"):
        raise Skip("others may have theirs on this machine")
    with open("/sys/kernel/tracing/uprobe_events") as file:
        text = file.read()
    assert "proftrace" not in text, text
