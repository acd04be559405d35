# SPDX-License-Identifier: BSD-2-Clause
"""Recomputes each figure about the device from the simulation's log. Figures that cannot be known must be marked so."""
import collections
import json
import math
import os
import pathlib
import re
import shutil

from lib import process
from lib.device_truth import STEPS, Truth, of_event, of_row, same, simulated
from lib.runner import test

BUILD = pathlib.Path(os.environ["BUILD"])
SIM, PYTHON = simulated(11, "mxnet-gpu-python")
EDGE_NS = 50_000  # the engine's threads launch on while a window begins or ends
WHEELS = (SIM / "wheels").resolve()

# The engine's operators, by their kernels.
OWNERS = [
    (r"AdamUpdateKernel", "engine: adam_update"),
    (r"cudnnConvolutionForward", "engine: Convolution"),
    (r"cudnnBatchNormalizationForwardTraining", "engine: BatchNorm"),
    (r"cudnnPoolingForward", "engine: Pooling"),
    (r"cudnnActivationForward", "engine: Activation"),
    (r"cudnnBatchNormalizationBackward|cudnnPoolingBackward|cudnnConvolutionBackward|cudnnActivationBackward",
     "engine: ImperativeBulk"),
]


def settings(case, devices=1):
    path = ":".join(map(str, (SIM / "lib", WHEELS / "cuda_nvrtc/lib", WHEELS / "nvtx/lib")))
    return {"LD_LIBRARY_PATH": path, "SIMGPU_DEVICES": str(devices), "SIMGPU_TRUTH": str(case.dir / "truth")}


def start(case, *args, devices=1):
    return case.job("mx_train.py", "--device", "gpu", *args, fresh=True, python=PYTHON,
                    **settings(case, devices))


def truth_of(case, tool, pid):
    truth = Truth(case.dir / f"truth.{pid}")
    assert not truth.misuse, truth.misuse
    assert not tool.said("device.no-device-times"), tool.err
    return truth


RECORD = "--record", f"{STEPS.start}:{STEPS.stop}", "--no-prune", "--no-trace", "--no-progress"


def record(case, *options, mode="gluon", devices=1, args=()):
    job = start(case, "--mode", mode, *args, devices=devices).wait_steps(10, timeout_s=180)
    tool = case.tool("-p", job.pid, *RECORD, *options).done(120)
    job.wait_steps(3)
    return tool, tool.events(), truth_of(case, tool, job.pid)


def check_activities(events, truth):
    """The activities must be exactly the log's, to the nanosecond, except at the window's edges."""
    steps = [e for e in events if e["type"] == "step"]
    begin, end = steps[0]["ts_ns"] + EDGE_NS, steps[-1]["ts_ns"] + steps[-1]["dur_ns"] - EDGE_NS
    ours = {e["correlation"]: of_event(e) for e in events if e["type"] == "device"}
    theirs = {r["correlation"]: of_row(r) for r in truth.rows}
    wanted = [r["correlation"] for r in truth.rows if begin < r["submit_ns"] < end]
    assert len(wanted) > 100, f"{len(wanted)} activities"
    missing = [theirs[c] for c in wanted if c not in ours]
    assert not missing, f"{len(missing)} of {len(wanted)} are missing: {missing[:4]}"
    wrong = [(ours[c], theirs.get(c)) for c in ours if ours[c] != theirs.get(c)]
    assert not wrong, f"{len(wrong)} of {len(ours)} differ: {wrong[:4]}"


# Which operator computes it, in which phase.
ASKED = [
    (r"AdamUpdateKernel", "adam_update", "Optimization"),
    (r"cudnnConvolutionForward", "Convolution", "Forward"),
    (r"cudnnConvolutionBackward", "_backward_Convolution", "Backward"),
    (r"cudnnBatchNormalizationForwardTraining", "BatchNorm", "Forward"),
    (r"cudnnBatchNormalizationBackward", "_backward_BatchNorm", "Backward"),
    (r"cudnnPoolingForward", "Pooling", "Forward"),
    (r"cudnnPoolingBackward", "_backward_Pooling", "Backward"),
    (r"cudnnActivationForward", "Activation", "Forward"),
    (r"cudnnActivationBackward", "_backward_Activation", "Backward"),
    (r"AddBiasGradKernel", "_backward_FullyConnected", "Backward"),
    (r"gemm_f32_tn", "FullyConnected", "Forward"),
    (r"gemm_f32_n[nt]", "_backward_FullyConnected", "Backward"),
]
FIRST_GRADIENT = "MapPlanKernel"  # no operator sets the first gradient of a backward pass
WHOLE = "Pooling", "_backward_Pooling", "_backward_Activation", "adam_update"  # all kernels of these belong to them


def in_steps(events, truth):
    """Returns the device work that the recorded steps requested."""
    steps = {e["step"]: (e["ts_ns"], e["ts_ns"] + e["dur_ns"]) for e in events if e["type"] == "step"}
    same(sorted(steps), list(STEPS), "steps")
    return list(truth.of(steps))


def first_of(events, wanted):
    """Returns when the first of these begins, by thread."""
    first = {}
    for e in events:
        if wanted(e):
            first[e["tid"]] = min(e["ts_ns"], first.get(e["tid"], e["ts_ns"]))
    return first


def owner_of(e, by_id):
    span = by_id[e["launch_id"]]
    while span and span["kind"] not in ("Execution", "Operator"):
        span = by_id.get(span.get("parent_id"))
    return span


DROPOUT = [
    (r"cudnnDropoutForward", "Dropout", "Forward"),
    (r"cudnnDropoutBackward", "_backward_Dropout", "Backward"),
]


def check_asked(events, rows, tables, graph=False, more=()):
    """GPU times of operators and phases must be those of the truth's kernels that they requested."""
    by_id = {e["id"]: e for e in events if "id" in e}
    device = {e["correlation"]: e for e in events if e["type"] == "device" and e["kind"] == "Kernel"}
    operators, phases = collections.Counter(), collections.Counter()
    seen, calls, unasked, longest = (collections.Counter() for _ in range(4))
    first = first_of(events, lambda e: e.get("kind") == "Execution")
    for r in (r for r in rows if r["kind"] == "kernel"):
        e = device[r["correlation"]]
        owner, launch = owner_of(e, by_id), by_id[e["launch_id"]]
        for pattern, operator, phase in (*ASKED, *more):
            if not owner and launch["ts_ns"] < first[launch["tid"]]:
                continue  # it ran when the window began
            if re.search(pattern, r["name"]):
                has_name = (pattern, operator, phase) in ASKED  # an operator with a state has none
                same(owner and owner["name"], operator if has_name else "?", r["name"])
                operators[operator] += r["ns"]
                longest[operator] = max(longest[operator], r["ns"])
                seen[pattern] += 1
                if not graph and e["phase"] != "Other":  # otherwise it was called before the window
                    same(e["phase"], phase, r["name"])
        phases["Others" if e["phase"] == "Other" else e["phase"]] += r["ns"]
        calls[r["name"]] += 1
        unasked[r["name"]] += e["phase"] == "Other" and not (owner is None and FIRST_GRADIENT in r["name"])
    for pattern, *_ in (*ASKED, *more):
        assert seen[pattern], f"no {pattern}"
    got = {r["name"]: r for r in tables["operator"]["rows"]}
    for name in WHOLE:
        same(got[name]["gpu_total_ns"], operators[name], f"Operator {name}")
    for _, name, _ in more:  # of the one that was called before the window nothing has the name
        missing = operators[name] - got[name]["gpu_total_ns"]
        assert missing in (0, longest[name]), f"Operator {name} lacks {missing} ns, one kernel has {longest[name]} ns"
    if graph:
        return
    # Python waits for the loss only. The backward pass and the update of the step before the window may still run.
    late = {name: cnt for name, cnt in unasked.items() if cnt > math.ceil(calls[name] / len(STEPS))}
    assert not late, f"of no phase: {late}"
    got = {r["name"]: r for r in tables["model"]["rows"]}
    for phase in "Forward", "Backward", "Optimization", "Others":
        same(got[phase]["gpu_total_ns"], phases[phase], phase)


def asked(mode, *options):
    def check(case):
        tool, events, truth = record(case, *options, mode=mode)
        check_activities(events, truth)
        tables = tool.report("--table", "all", "--row-limit", "0")
        check_asked(events, in_steps(events, truth), tables)
        names = {r["name"]: r for r in tables["operator"]["rows"]}
        same(names["_copyto"].get("gpu_total_ns"), None, "_copyto, which gives its work to others")
        for table, column in ("classic", "event"), ("key_averages", "name"):
            rows = collections.Counter(r[column] for r in tables[table]["rows"])
            assert "engine: Convolution" in rows and max(rows.values()) == 1, rows.most_common(3)
        inside = {r["name"] for r in truth.rows if r["kind"] == "kernel"}
        assert {r["name"] for r in tables["kernel"]["rows"]} <= inside
    return check


test("default detail: activities, operators and phases are the truth's")(asked("gluon"))
test("a cached graph: the same")(asked("hybrid"))


@test("Dropout, which has a state: activities and phases are the truth's, and its kernels are its own")
def dropout(case):
    tool, events, truth = record(case, args=("--dropout",))
    check_activities(events, truth)
    tables = tool.report("--table", "all", "--row-limit", "0")
    check_asked(events, in_steps(events, truth), tables, more=DROPOUT)


@test("symbols: operators are the truth's; GPU times of phases are not known, and it says so")
def symbols(case):
    tool, events, truth = record(case, mode="module")
    tables = tool.report("--table", "all", "--row-limit", "0")
    for phase in "Forward", "Backward", "Optimization":
        same({r["name"]: r for r in tables["model"]["rows"]}[phase].get("gpu_total_ns"), None, phase)
    assert any("are not known" in note for note in tables["model"]["notes"]), tables["model"]["notes"]
    check_asked(events, in_steps(events, truth), tables, graph=True)


@test("--detail inner: each kernel below what the engine runs, with its GPU time")
def inner(case):
    tool, events, truth = record(case, "--detail", "inner")
    check_activities(events, truth)
    by_id = {e["id"]: e for e in events if "id" in e}
    seen, ns = collections.Counter(), collections.Counter()
    first = first_of(events, lambda e: e.get("name", "").startswith("engine: "))
    for e in events:
        if e["type"] != "device" or e["kind"] != "Kernel" or e["step"] not in STEPS:
            continue
        span = launch = by_id[e["launch_id"]]
        while span and not span["kind"].startswith("Operator"):
            span = by_id.get(span.get("parent_id"))
        if not span and launch["ts_ns"] < first[launch["tid"]]:
            continue  # it ran when the window began
        assert span and span["name"].startswith("engine: "), f"{e['name']} below {span and span['name']}"
        ns[span["name"]] += e["dur_ns"]
        for pattern, owner in OWNERS:
            if re.search(pattern, e["name"]):
                same(span["name"], owner, e["name"])
                seen[pattern] += 1
    for pattern, _ in OWNERS:
        assert seen[pattern], f"no {pattern}"
    names = {r["name"]: r for r in tool.report("--table", "operator", "--row-limit", "0")["operator"]["rows"]}
    same(names["engine: adam_update"]["gpu_total_ns"], ns["engine: adam_update"], "engine: adam_update")
    same(names["adam_update"].get("gpu_total_ns"), None, "adam_update")


def activities_of(mode, devices):
    def check(case):
        _, events, truth = record(case, mode=mode, devices=devices)
        check_activities(events, truth)
        same({e["device"] for e in events if e["type"] == "device"}, set(range(devices)), "devices")
    return check


for MODE, DEVICES in ("hybrid_static", 1), ("module", 1), ("kv", 2):
    test(f"{MODE}, devices: {DEVICES}: activities are the truth's")(activities_of(MODE, DEVICES))


def profile(case, *args, devices=1):
    """Returns mx.profiler's data about such a job."""
    theirs = case.dir / "theirs.json"
    job = start(case, "--profile", theirs, *args, devices=devices)
    process.wait_for(lambda: job.popen.poll() is not None, 180, "the profiled job's end")
    return json.loads(theirs.read_text())


@test("operators are as many as mx.profiler counts on the device, and allocations nearly")
def second_opinion(case):
    profiled = profile(case)
    steps, times = profiled["steps"], profiled["tables"]["Time"]["operator"]
    tool, events, _ = record(case, "--profile-memory")
    tables = tool.report("--table", "operator,memory", "--row-limit", "0")
    # Operators that the engine runs for itself. It names a copy like this.
    engines = {"CopyCPU2GPU", "DeleteVariable", "SetValueOp", "WaitForVar"}
    same({r["name"]: r["calls"] / len(STEPS) for r in tables["operator"]["rows"] if r["name"] != "_copyto"},
         {name: sums["Count"] / steps for name, sums in times.items() if name not in engines}, "calls of a step")
    memory = [r for r in tables["memory"]["rows"] if r["section"] == "Place: GPU0, Allocated"]
    ours = sum(r["alloc_cnt"] + r["free_cnt"] for r in memory) / len(STEPS)
    want = profiled["tables"]["Memory"]["Device Storage"]["Memory: gpu/0"]["Count"] / steps
    # The engine frees on while a window begins or ends.
    assert abs(ours - want) < 0.2 * want, f"{ours} allocations and frees of a step, mx.profiler has {want}"


def majors(first, second):
    def check(case):
        job = case.job("two_cuda.py", first, second, fresh=True, LD_LIBRARY_PATH=f"{BUILD / 'simgpu/13/lib'}:{SIM / 'lib'}",
                       SIMGPU_TRUTH=str(case.dir / "truth")).wait_steps(10)
        tool = case.tool("-p", job.pid, "--duration", "500ms", "--no-trace", "--no-progress").done(60)
        assert tool.said("capture.device-call-warning", job.pid,
                         "uses CUDA 13 and 11: device times come from the libcupti of CUDA 13;"), tool.err
        notes = tool.report("--table", "cost")["cost"]["notes"]
        assert any("the process uses CUDA 13 and 11" in note for note in notes), notes
        job.wait_steps(3)
        events = [e for e in tool.events() if e["type"] == "device"]
        begin, end = min(e["ts_ns"] for e in events), max(e["ts_ns"] for e in events)
        rows = [r for r in Truth(case.dir / f"truth.{job.pid}").rows if begin <= r["start_ns"] <= end]
        assert len(rows) > 40 and len({r["bytes"] for r in rows}) == 2, f"{len(rows)} sets"
        same(sorted((e["ts_ns"], e["dur_ns"], e["value"]) for e in events),
             sorted((r["start_ns"], r["ns"], r["bytes"]) for r in rows), "sets of both runtimes")
    return check


OLD, NEW = SIM / "lib/libcudart.so.11.0", BUILD / "simgpu/13/lib/libcudart.so.13"
test("CUDA 11 and 13 in one process: both are recorded, and it is said")(majors(OLD, NEW))
test("CUDA 13 and 11 in one process: both are recorded, and it is said")(majors(NEW, OLD))


def without_cupti(case):
    """Starts a job of CUDA 11 whose only libcupti is that of CUDA 13, in its Python's packages."""
    for name in "libcuda.so.1", OLD.name:
        shutil.copy(SIM / "lib" / name, case.dir)
    runtime = case.dir / OLD.name
    return case.job("two_cuda.py", runtime, runtime, fresh=True, LD_LIBRARY_PATH=str(case.dir),
                    SIMGPU_TRUTH=str(case.dir / "truth")).wait_steps(10)


@test("CUDA 11 and no libcupti but that of CUDA 13: no device times, which the report says, too")
def no_cupti(case):
    job = without_cupti(case)
    tool = case.tool("-p", job.pid, "--duration", "500ms", "--no-trace", "--no-progress").done(60)
    job.wait_steps(3)
    said = f"no device times: no libcupti of CUDA 11 was found for process {job.pid}"
    assert tool.said("device.cupti-of-cuda-not-found", 11, job.pid), tool.err
    assert not [e for e in tool.events() if e["type"] == "device"], "activities"
    noted = {name: [n for n in table["notes"] if said in n] for name, table in tool.report("--table", "all").items()
             if isinstance(table, dict)}
    assert any(noted.values()), f"no note in {noted.keys()}"
    assert "tool attached" not in (case.dir / f"truth.{job.pid}").read_text(), "something was loaded"


@test("--cupti of another major than the process's: recorded, and it is said")
def other_cupti(case):
    job = without_cupti(case)
    other = BUILD / "simgpu/13/lib/libcupti.so.13"
    tool = case.tool("-p", job.pid, "--cupti", other, "--duration", "500ms", "--no-trace", "--no-progress").done(60)
    job.wait_steps(3)
    assert tool.said("capture.device-call-warning", job.pid,
                     "is given the libcupti of CUDA 13 and uses CUDA 11: whether"), tool.err
    assert len([e for e in tool.events() if e["type"] == "device"]) > 20, "activities"
