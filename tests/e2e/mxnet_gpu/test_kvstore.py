# SPDX-License-Identifier: BSD-2-Clause
"""A key-value store `device` over two devices: each kernel, copy and set of both, and the engine's operator that asked
for it, attached late, from the job's begin, and with a host that runs ahead."""
import collections
import math
import re

from lib.device_truth import STEPS, same
from lib.job import ENV, WORKLOADS
from lib.runner import test
from test_truth import (ASKED, OWNERS, PYTHON, RECORD, check_activities, first_of, owner_of, profile, record, settings,
                        truth_of)

DEVICES = 2
SHARED = "--devices", DEVICES, "--kvstore", "device"
AHEAD = "--wait-every", len(STEPS)
PARAMETERS = 8  # that have a gradient

# What the engine's operators run of a store, and of the batches, by what a copy does or a kernel computes.
SUM, COPY, LOAD = "engine: DenseElementwiseSum", "engine: CopyGPU2GPU", "engine: CopyCPU2GPU"


def late(case, mode, *options, args=()):
    return record(case, *options, mode=mode, devices=DEVICES, args=(*SHARED, *args))


def run(case, mode, *options, args=()):
    """Runs the same job, recorded from its begin."""
    tool = case.tool("run", *RECORD, *options, "--", PYTHON, WORKLOADS / "mx_train.py", "--device",
                     "gpu", "--steps", 3000 if mode == "module" else 1000, "--mode", mode, *SHARED, *args,
                     env=dict(ENV, **settings(case, DEVICES))).done(180)
    (log,) = case.dir.glob("truth.*")
    return tool, tool.events(), truth_of(case, tool, log.name.split(".")[1])


def checked_step(e, r, launch, by_id, steps):
    """Returns the step in which the event's outermost span ends. An operator of the engine belongs to one step, that of
    its submission."""
    root = launch
    while by_id.get(root.get("parent_id")):
        root = by_id[root["parent_id"]]
    end = root["ts_ns"] + root["dur_ns"]
    ends_in = [step for step, (begin_ns, end_ns) in steps.items() if begin_ns <= end < end_ns]
    if root.get("cut") and not ends_in:
        ends_in = [max(steps)] if e["step"] is not None else []  # with the window
    same(e["step"], ends_in[0] if ends_in else None, f"step of {r['name']}")
    inside = root["ts_ns"] <= r["submit_ns"] <= end
    assert inside or root.get("cut"), f"{r['name']}: {r['submit_ns']} is outside of {root}"
    same(launch["tid"], int(r["tid"]), f"thread of {r['name']}")
    return e["step"]


def check_copies(tool, rows):
    """Calls, bytes and times of each direction; peers' are among them, of both devices."""
    want, got = collections.Counter(), collections.Counter()
    for r in rows:
        if r["kind"] == "memcpy":
            want.update({(r["name"], "calls"): 1, (r["name"], "bytes"): r["bytes"], (r["name"], "ns"): r["ns"]})
    for r in tool.report("--table", "manipulation", "--row-limit", "0")["manipulation"]["rows"]:
        name = r["name"].split()[1]
        got.update({(name, "calls"): r["calls"], (name, "bytes"): r["size_bytes"], (name, "ns"): r["gpu_total_ns"]})
    same(dict(got), dict(want), "Memory Manipulation")
    peers = [r for r in rows if r["name"] == "PtoP"]
    same({r["dev"] for r in peers}, set(range(DEVICES)), "devices that copies of peers are on")
    # A gradient to the store's device, and the parameter back; nobody waits for these at a step's end.
    assert len(peers) >= 2 * PARAMETERS * (len(STEPS) - 2), f"{len(peers)} copies of peers"


def owned(tool, events, truth, is_first):
    """Activities of both devices, each with its event, its call and all spans. Left out is what ran when the window
    began or ended: on each thread, what comes before the first such span or behind the last."""
    check_activities(events, truth)
    by_id = {e["id"]: e for e in events if "id" in e}
    device = {e["correlation"]: e for e in events if e["type"] == "device"}
    steps = {e["step"]: (e["ts_ns"], e["ts_ns"] + e["dur_ns"]) for e in events if e["type"] == "step"}
    same(sorted(steps), list(STEPS), "steps")
    first, last = first_of(events, is_first), collections.Counter()
    for e in filter(is_first, events):
        last[e["tid"]] = max(last[e["tid"]], e["ts_ns"] + e["dur_ns"])
    of_steps, rows = [], []
    for r in truth.rows:
        e = device.get(r["correlation"])
        launch = e and by_id.get(e.get("launch_id"))
        if not launch:
            continue  # at the window's edge, which check_activities() leaves out
        if checked_step(e, r, launch, by_id, steps) in STEPS:
            of_steps.append(r)
        if first.get(launch["tid"], math.inf) <= launch["ts_ns"] < last[launch["tid"]]:
            rows.append((r, e, launch))
    check_copies(tool, of_steps)
    return rows, by_id


def check_default(tool, events, truth):
    """Activities of operators that are called must be theirs, and in their phases."""
    rows, by_id = owned(tool, events, truth, lambda e: e.get("kind") in ("Execution", "Operator"))
    seen = collections.defaultdict(set)
    for r, e, _ in rows:
        for pattern, operator, phase in ASKED:
            if r["kind"] != "kernel" or not re.search(pattern, r["name"]):
                continue
            owner = owner_of(e, by_id)
            same(owner and owner["name"], operator, r["name"])
            assert owner["kind"] == "Operator" or e["phase"] in (phase, "Other"), f"{e['phase']}: {r['name']}"
            seen[pattern].add(r["dev"])
    # Each parameter has a device on which it is updated.
    same(dict(seen), {pattern: set(range(DEVICES)) for pattern, *_ in ASKED}, "devices of operators")


def engine_owner(e, by_id):
    span = by_id[e["launch_id"]]
    while span and not span.get("name", "").startswith("engine: "):
        span = by_id.get(span.get("parent_id"))
    return span and span["name"]


def wanted_owner(r, graph):
    """Returns a pattern of the engine's operator, or None if nothing shows it."""
    if r["name"] in ("PtoP", "HtoD"):
        return "engine: (Copy|_copyto_)GPU2GPU" if r["name"] == "PtoP" else LOAD
    for pattern, owner in OWNERS:
        if re.search(pattern, r["name"]):
            return owner if not graph or owner == "engine: adam_update" else None
    return None


def check_inner(tool, events, truth, graph):
    """Each activity below an operator of the engine, on the thread that ran it."""
    rows, by_id = owned(tool, events, truth, lambda e: e.get("name", "").startswith("engine: "))
    seen = collections.Counter()
    for r, e, _ in rows:
        owner, want = engine_owner(e, by_id), wanted_owner(r, graph)
        assert owner, f"{r['name']} below no operator of the engine"
        assert not want or re.fullmatch(want, owner), f"{r['name']} below {owner}, not {want}"
        seen[owner] += 1
    assert seen[SUM] and seen[COPY] and seen[LOAD], seen


def default(start, mode, args=()):
    return lambda case: check_default(*start(case, mode, args=args))


def inner(start, mode, args=()):
    return lambda case: check_inner(*start(case, mode, "--detail", "inner", args=args), mode != "gluon")


for WHAT, CHECK in (("activities, copies between devices and operators are the truth's", default),
                    ("--detail inner: each activity below the engine's operator", inner)):
    for MODE in "gluon", "hybrid", "module":
        test(f"kvstore device, {MODE}: {WHAT}")(CHECK(late, MODE))
    for MODE in "gluon", "module":
        test(f"kvstore device, {MODE}, from the job's begin: {WHAT}")(CHECK(run, MODE))
        test(f"kvstore device, {MODE}, the host ahead: {WHAT}")(CHECK(late, MODE, AHEAD))


@test("kvstore device: the engine's operators are as many as mx.profiler counts")
def second_opinion(case):
    profiled = profile(case, *SHARED, devices=DEVICES)
    theirs = profiled["tables"]["Time"]["operator"]
    tool, _, _ = late(case, "gluon", "--detail", "inner")
    rows = {r["name"]: r for r in tool.report("--table", "operator", "--row-limit", "0")["operator"]["rows"]}
    for name in "DenseElementwiseSum", "CopyGPU2GPU", "CopyCPU2GPU", "adam_update", "Convolution", "FullyConnected":
        ours, want = rows[f"engine: {name}"]["calls"] / len(STEPS), theirs[name]["Count"] / profiled["steps"]
        # Work that a step leaves to the next one counts in the next one.
        assert abs(ours - want) <= want / len(STEPS), f"{name}: {ours} calls of a step, mx.profiler has {want}"
