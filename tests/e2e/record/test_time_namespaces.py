# SPDX-License-Identifier: BSD-2-Clause
"""A time namespace shifts the clock of proftrace, or of the process with our library in it."""
import json
import subprocess

from lib.runner import test
from lib.tool import events


def in_time_namespace(seconds):
    return ["unshare", "-T", "--monotonic", str(seconds), "--boottime", str(seconds), "-f", "--"]


def check_steps(case, job, tool):
    tables = json.loads(tool.out)
    steps = tables["summary"]["rows"][0]["steps"]  # the table of steps has no more than a hundred
    assert steps > 4, tables
    recording, = tool.recordings()
    found = list(events(recording))
    begins = [e["ts_ns"] for e in found if e.get("type") == "step"]
    spans = [e for e in found if e.get("type") == "span"]
    assert len(begins) == steps and spans, (len(begins), steps, len(spans))
    # If all clocks agree, the recorded spans lie in their steps.
    inside = [e for e in spans if begins[0] - 1e9 < e["ts_ns"] < begins[-1] + 2e9]
    assert len(inside) == len(spans), (len(inside), len(spans))
    assert max(begins) - min(begins) < 5e9, begins


ARGS = ("--duration", "2s", "--no-trace", "--format", "json", "--table", "summary")


@test("proftrace in a time namespace, its clock behind or ahead of the machine's")
def own(case):
    job = case.job("train.py").wait_steps(3)
    for seconds in (100000, 7):
        tool = case.tool("-p", job.pid, *ARGS, wrap=in_time_namespace(seconds)).done(60)
        check_steps(case, job, tool)


@test("a process in a time namespace, with our library in it")
def target(case):
    job = case.job("train.py", wrap=in_time_namespace(5000)).wait_steps(3)
    pid = int(subprocess.check_output(["pgrep", "-P", str(job.pid)]))
    tool = case.tool("-p", pid, "--inject", *ARGS).done(60)
    check_steps(case, job, tool)
    assert not tool.said("device.shim-memory-not-opened"), tool.err
