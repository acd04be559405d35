# SPDX-License-Identifier: BSD-2-Clause
"""Each kernel, copy and set has the operator that paddle.profiler gives it."""
import collections
import json
import signal

from lib import process
from lib.device_truth import STEPS, same
from lib.runner import test
from test_truth import owner, record, start, truth_of


def activity(kind, name):
    """Returns the activity's name in paddle.profiler."""
    if kind == "Kernel":
        return name
    return "MEMSET" if kind == "Memset" else "MEMCPY_" + next(d for d in ("HtoD", "DtoH", "DtoD", "PtoP") if d in name)


def ours(events):
    """Calls and their mean time in ns, by operator and activity."""
    by_id, found = {e["id"]: e for e in events if "id" in e}, collections.defaultdict(list)
    for e in events:
        if e["type"] == "device" and e["step"] in STEPS:
            found[owner(by_id, e) or "", activity(e["kind"], e["name"])].append(e["dur_ns"])
    return {key: (len(ns) / len(STEPS), sum(ns) / len(ns)) for key, ns in found.items()}


def theirs(case, job):
    path = case.dir / "theirs.json"
    job.signal(signal.SIGUSR1)
    process.wait_for(path.exists, 60, "paddle.profiler's events")
    seen = json.loads(path.read_text())
    return {tuple(key.split("\t")): (calls / seen["steps"], ns / calls) for key, (calls, ns) in seen["owned"].items()}


def calls(found):
    return {key: cnt for key, (cnt, _) in found.items()}


def differences(got, want):
    return {key: (got.get(key), want.get(key)) for key in got.keys() | want.keys() if got.get(key) != want.get(key)}


def compare(case, mode, *args, operators=None):
    """Compares all operators, or these. Returns events, and operators with their work."""
    job = start(case, "--mode", mode, "--sum", "--profile", case.dir / "theirs.json", *args)
    want = theirs(case, job)
    tool = record(case, job)
    events = tool.events()
    truth_of(case, job, tool, events)
    got = ours(events)
    if operators:
        got, want = ({k: v for k, v in found.items() if k[0] in operators} for found in (got, want))
        same({operator for operator, _ in got}, set(operators), "operators")
    same(differences(calls(got), calls(want)), {}, "calls of a step that differ from paddle.profiler's")
    for key, (_, ns) in got.items():
        assert abs(ns - want[key][1]) <= 1, f"{key}: {ns} ns, paddle.profiler has {want[key][1]}"
    return events, got.keys()


@test("dygraph, _legacy_C_ops: paddle.profiler has each activity below the same operator")
def dygraph(case):
    _, got = compare(case, "dygraph", "--legacy")
    operators = {operator for operator, _ in got}
    assert {"accuracy dygraph", "pixel_unshuffle dygraph", "pixel_unshuffleGradNodeCompat"} < operators, operators


@test("AMP: the same of operators that do not depend on values")
def amp(case):
    # Whether the scaler lets the optimizer update does, and nothing computes values here.
    compare(case, "dygraph", "--amp", "--legacy",
            operators=("check_finite_and_unscale dygraph", "cast dygraph", "CastGradNode", "conv2d dygraph",
                       "Conv2dGradNodeFinal", "matmul dygraph", "MatmulGradNode", "pixel_unshuffle dygraph",
                       "accuracy dygraph"))


@test("to_static: the same")
def to_static(case):
    compare(case, "to_static")


@test("the static Executor: the same")
def static(case):
    events, got = compare(case, "static")
    same({what for operator, what in got if not operator}, {"MEMCPY_HtoD"}, "below no operator")  # of the feeds
    by_id = {e["id"]: e for e in events if "id" in e}
    for e in events:
        if e["type"] == "device" and e["step"] in STEPS:
            name = owner(by_id, e)
            # The copy of a result has its own thread, so it may come after gradients have begun.
            if name != "memcpy_d2h":
                same(e["phase"], phase_of(name), f"{e['name']} of {name}")


def phase_of(instruction):
    if not instruction:
        return "Other"
    if instruction.endswith("_grad"):
        return "Backward"
    return "Optimization" if instruction == "adam" else "Forward"
