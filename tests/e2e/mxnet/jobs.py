# SPDX-License-Identifier: BSD-2-Clause
"""Jobs in MXNet, their recordings, and mx.profiler's data about the same network."""
import json
import threading

from lib.process import Snapshot, threads

STEPS = 8
# Operators that the engine runs for itself. No job calls them.
HOUSEKEEPING = {"DeleteVariable", "WaitForVar", "SetValueOp", "KVStoreReduce", "CopyCPU2CPU"}
PROFILES, PROFILES_LOCK, SEEN = {}, threading.Lock(), {}


def start(case, *args):
    return case.job("mx_train.py", *args)


def train(case, *args):
    """A job that trains already."""
    return start(case, *args).wait_steps(10)


def profiled(case, *args):
    """Returns mx.profiler's output for such a job. It runs once for all tests."""
    with PROFILES_LOCK:
        lock = PROFILES.setdefault(args, threading.Lock())
    with lock:
        if args not in SEEN:
            truth = case.dir / "truth.json"
            job = start(case, "--profile", truth, *args)
            assert job.wait(100) == 0, job.err.read_text()
            SEEN[args] = json.loads(truth.read_text())
        return SEEN[args]


def profile(case, *args):
    """Returns calls per step by name, as mx.profiler counts them: of operators, of the C API."""
    seen = profiled(case, *args)
    tables = [{name: row.get("Count", 0) / seen["steps"] for name, row in domain.items()}
              for domain in (seen["tables"]["Time"]["operator"],
                             seen["tables"]["Time"]["MXNET_C_API"])]
    return {n: c for n, c in tables[0].items() if n not in HOUSEKEEPING}, tables[1]


def allocations(case, *args):
    """Returns allocations and frees per step, as mx.profiler counts them."""
    seen = profiled(case, *args)
    return seen["tables"]["Memory"]["Device Storage"]["Memory: cpu/0"]["Count"] / seen["steps"]


def names(tables, table, key="name"):
    return {row[key]: row for row in tables[table]["rows"]} if table in tables else {}


def operators(tables):
    """Calls a step by name."""
    calls = {}
    for row in tables["operator"]["rows"]:
        assert not row["estimated"], row
        if row["depth"] == 0:
            calls[row["name"]] = calls.get(row["name"], 0) + row["calls"] / STEPS
    return calls


def check_operators(tables, theirs, ours_alone=()):
    ours = {n: c for n, c in operators(tables).items() if n not in ours_alone}
    different = {n: (ours.get(n), theirs.get(n)) for n in ours.keys() | theirs.keys()
                 if ours.get(n) != theirs.get(n)}
    assert not different, different


def check_late(tables, theirs, late, ours_alone=()):
    """Compares the same where the engine runs some operators for itself, maybe after the step's end."""
    ours = {n: c for n, c in operators(tables).items() if n not in ours_alone}
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    for name, cnt in theirs.items():
        slack = cnt / STEPS if late(name) else 0
        assert abs(ours[name] - cnt) <= slack, (name, ours[name], cnt)


def check_phases(tables, **calls):
    """Each step must have so many of each phase, and no other phase."""
    model = names(tables, "model")
    seen = {name: row["calls"] / STEPS for name, row in model.items()
            if name not in ("ProfileStep", "Others")}
    assert seen == calls, (seen, calls)
    assert model["ProfileStep"]["calls"] == STEPS, model


def lasting_threads(job):
    """Returns the threads that the job has all the time, when all have started. The engine's threads start one by one,
    and an iterator has a thread for a moment between two epochs."""
    looks = [threads(job.pid)]
    while len(looks) < 4 or len(looks[-1]) > len(looks[-4]):
        job.wait_steps(5)
        looks.append(threads(job.pid))
    return sorted(set.intersection(*map(set, looks[-3:])))


def record(case, job, *options):
    """Records, checks that the job is as before, and returns the tables."""
    before = Snapshot(job.pid, lasting=lasting_threads(job))
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + STEPS}", *options).done()
    job.wait_steps(3)
    before.check()
    tables = tool.report()
    summary = tables["summary"]["rows"][0]
    assert summary["framework"].startswith("MXNet 1.9.1"), summary
    assert summary["steps"] == STEPS, summary
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]
    return tables
