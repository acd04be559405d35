# SPDX-License-Identifier: BSD-2-Clause
"""Compares collectives of torch.distributed with torch.profiler's, for the same steps of the same job."""
import collections
import gzip
import json

from lib import process
from lib.runner import test
from test_job import Launched

PROFILED = STEPS = 4
WANTED = ("c10d::", "gloo:")
# The waits of Work.wait(), which torch.profiler does not show.
ONLY_OURS = {"c10d::Work::wait"}
FLOATS = 1000 * 4


def profiled(case, *args):
    """Returns the job, and the names and calls of four of its steps from torch.profiler."""
    path = case.dir / "profile.json"
    job = Launched(case, "--profile-to", path, *args, script="collectives.py", ranks=2)
    process.wait_for(lambda: job.steps(0) > 12, 120, "the profiled steps")
    calls = collections.Counter(n for n in json.loads(path.read_text()) if n.startswith(WANTED))
    assert calls, "torch.profiler saw no collectives"
    return job, calls


def recorded(case, job, *args):
    tool = case.tool("-p", job.pids()[0], "--record", f"2:{2 + STEPS}", "--no-prune", "--format", "json",
                     *args).done(120)
    trace = next(tool.dir.glob("*.pt.trace.json.gz"))
    with gzip.open(trace) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    return json.loads(tool.out), events


def check(events, theirs):
    ours = collections.Counter(e["name"] for e in events if e["name"].startswith(WANTED))
    waits = {n: ours.pop(n, 0) for n in ONLY_OURS}
    assert ours == theirs, f"proftrace - torch.profiler: {ours - theirs}; the reverse: {theirs - ours}"
    return waits


@test("collectives of each kind: calls and work as torch.profiler names and counts them; sizes")
def each_kind(case):
    job, theirs = profiled(case)
    tables, events = recorded(case, job)
    waits = check(events, theirs)
    assert waits["c10d::Work::wait"] >= 8 * STEPS, waits
    rows = {r["name"]: r for r in tables["collectives"]["rows"]}
    assert set(rows) == {n for n in theirs if n.startswith("gloo:")}, rows
    for name, size in (("broadcast", FLOATS), ("reduce", FLOATS), ("all_to_all", FLOATS),
                       ("send", FLOATS)):
        assert rows[f"gloo:{name}"]["size_bytes"] == STEPS * size, rows
    # DDP's bucket (all parameters), one of floats, one of half as many bytes, one that fails.
    parameters = 4 * (64 * 64 + 64 + 64 * 8 + 8)
    assert rows["gloo:all_reduce"]["size_bytes"] == STEPS * (parameters + FLOATS + FLOATS // 2 + 8), rows
    assert rows["gloo:barrier"]["size_bytes"] is None, rows
    listed = {r["name"] for r in tables["operator"]["rows"]}
    assert {"c10d::broadcast_", "c10d::barrier", "c10d::send", "c10d::Work::wait"} <= listed, listed
    copies = sum(e["name"].endswith("copy_bucket_to_grad") for e in events)
    assert copies == 4 * STEPS, copies
    assert not process.changed_text(job.pids()[0])


@test("ZeroRedundancyOptimizer: its broadcasts and DDP's reductions")
def zero(case):
    job, theirs = profiled(case, "--zero")
    tables, events = recorded(case, job)
    check(events, theirs)
    assert theirs["c10d::broadcast_"], theirs
    assert any(r["name"] == "Optimization" for r in tables["model"]["rows"]), tables["model"]


@test("collectives at --detail inner, with their operators around and inside")
def inner(case):
    job, theirs = profiled(case)
    check(recorded(case, job, "--detail", "inner")[1], theirs)
