# SPDX-License-Identifier: BSD-2-Clause
"""Each figure about the device, recomputed from the simulation's log."""
import collections
import json
import re
import signal
import time

from lib import process
from lib.device_truth import STEPS, Truth, check_activities, same, simulated
from lib.runner import test

SIM, PYTHON = simulated(11, "paddle-gpu-python")

# Which operator launches which kernel: in dygraph, in a program; and its phase.
OWNERS = [
    (r"AdamKernelREG", "adam_ dygraph", "adam", "Optimization"),
    (r"cudnnConvolutionForward", "conv2d dygraph", "conv2d", "Forward"),
    (r"cudnnConvolutionBackwardFilter", "Conv2dGradNodeFinal", "conv2d_grad", "Backward"),
    (r"cudnnBatchNormalizationForwardTraining", "batch_norm dygraph", "batch_norm", "Forward"),
    (r"cudnnBatchNormalizationBackward", "BatchNormGradNode", "batch_norm_grad", "Backward"),
    (r"cudnnPoolingForward", "pool2d dygraph", "pool2d", "Forward"),
    (r"cudnnPoolingBackward", "Pool2dGradNode", "pool2d_grad", "Backward"),
    (r"CudaReluFunctor", "relu dygraph", "relu", "Forward"),
    (r"CudaReluGradFunctor", "ReluGradNode", "relu_grad", "Backward"),
    (r"WarpSoftmaxForward", "cross_entropy_with_softmax dygraph", "softmax_with_cross_entropy", "Forward"),
    (r"SoftmaxWithCrossEntropyGrad", "CrossEntropyWithSoftmaxGradNode", "softmax_with_cross_entropy_grad",
     "Backward"),
    (r"gemm_f(16|32)_nn", "matmul dygraph", "matmul_v2", "Forward"),
    (r"gemm_f(16|32)_(nt|tn)", "MatmulGradNode", "matmul_v2_grad", "Backward"),
]
# to_static makes a program from the network only.
OUTSIDE = ("AdamKernelREG", "WarpSoftmaxForward", "SoftmaxWithCrossEntropyGrad")
# These also run kernels and copies of other operators.
MIXED = ("conv2d dygraph", "cross_entropy_with_softmax dygraph", "softmax_with_cross_entropy")


def owners(mode):
    """Pattern of kernels, operator, phase."""
    for pattern, dygraph, program, phase in OWNERS:
        is_program = mode == "static" or mode == "to_static" and pattern not in OUTSIDE
        yield pattern, program if is_program else dygraph, phase


def settings(case, devices=1, **more):
    """Returns settings for a job's environment."""
    return dict(LD_LIBRARY_PATH=str(SIM / "lib"), SIMGPU_VERSION="11010", SIMGPU_DEVICES=str(devices),
                SIMGPU_TRUTH=str(case.dir / "truth"), **more)


def start(case, *args, **more):
    """A job that trains already."""
    job = case.job("paddle_train.py", "--device", "gpu", *args, fresh=True, python=PYTHON, **settings(case, **more))
    return job.wait_steps(10, timeout_s=180)


def owner(by_id, e):
    """The innermost operator that asked for it."""
    span = by_id[e["launch_id"]]
    while span and not span["kind"].startswith("Operator"):
        span = by_id.get(span.get("parent_id"))
    return span and span["name"]


def check_owners(events, mode):
    """Each kernel below the operator that computes it, in that operator's phase."""
    by_id = {e["id"]: e for e in events if "id" in e}
    seen = collections.Counter()
    for e in events:
        if e["type"] != "device" or e["kind"] != "Kernel" or e["step"] not in STEPS:
            continue
        for pattern, operator, phase in owners(mode):
            if re.search(pattern, e["name"]):
                same((owner(by_id, e), e["phase"]), (operator, phase), e["name"])
                seen[pattern] += 1
    for pattern, *_ in OWNERS:
        assert seen[pattern] and seen[pattern] % len(STEPS) == 0, f"{seen[pattern]} of {pattern}"


def rows_by(column, tables, table):
    return {r[column]: r for r in tables[table]["rows"]}


def kernel_times(kernels, mode="dygraph"):
    """Times of kernels by operator, and by phase."""
    by_operator, by_phase = collections.defaultdict(list), collections.defaultdict(list)
    for r in kernels:
        for pattern, operator, phase in owners(mode):
            if re.search(pattern, r["name"]):
                by_operator[operator].append(r["ns"])
                by_phase[phase].append(r["ns"])
    return by_operator, by_phase


def check_tables(tables, truth, elapsed_ns, mode, mixed):
    kernels = [r for r in truth if r["kind"] == "kernel"]
    check_launched(tables, truth, mode, mixed)
    same(rows_by("event_type", tables, "overview")["Kernel"]["calls"], len(kernels), "Overview, Kernel")
    gpus = {r["device"]: r["utilization_percent"] for r in tables["device"]["rows"] if r["device"].startswith("GPU")}
    busy = {f"GPU{dev}": 100 * busy_ns([r for r in kernels if r["dev"] == dev]) / elapsed_ns
            for dev in {r["dev"] for r in kernels}}
    same(gpus.keys(), busy.keys(), "devices")
    for name, percent in busy.items():
        assert abs(gpus[name] - percent) < 0.02, f"{name} {gpus[name]} %, the truth has {percent} %"


def check_launched(tables, truth, mode, mixed=MIXED):
    """Counts what the steps launched, whenever that ran."""
    kernels = [r for r in truth if r["kind"] == "kernel"]
    by_name = collections.defaultdict(list)
    for r in kernels:
        by_name[r["name"]].append(r["ns"])
    by_operator, by_phase = kernel_times(kernels, mode)
    same({name: (r["calls"], r["gpu_total_ns"]) for name, r in rows_by("name", tables, "kernel").items()},
         {name: (len(ns), sum(ns)) for name, ns in by_name.items()}, "Kernel")
    operators = rows_by("name", tables, "operator")
    for name, ns in by_operator.items():
        # Work of an autograd node counts for the node, so it has no row of its own.
        if name not in mixed and not (mode == "to_static" and name.endswith("_grad")):
            same(operators[name]["gpu_total_ns"], sum(ns), f"Operator {name}")
    same(rows_by("name", tables, "model")["Optimization"]["gpu_total_ns"], sum(by_phase["Optimization"]), "Optimization")

    copies = collections.defaultdict(lambda: [0, 0, 0])
    for r in truth:
        if r["kind"] != "kernel":
            direction = r["name"] if r["kind"] == "memcpy" else "(Device)"
            copies[direction] = [a + b for a, b in zip(copies[direction], (1, r["bytes"], r["ns"]))]
    ours = collections.defaultdict(lambda: [0, 0, 0])
    for r in tables.get("manipulation", {"rows": []})["rows"]:
        direction = r["name"].split()[1]
        ours[direction] = [a + b for a, b in zip(ours[direction], (r["calls"], r["size_bytes"], r["gpu_total_ns"]))]
    same(dict(ours), dict(copies), "Memory Manipulation")


def busy_ns(kernels):
    """The busy time of kernels. Kernels of several streams may overlap."""
    busy, last = 0, 0
    for r in sorted(kernels, key=lambda r: r["start_ns"]):
        busy += max(0, r["end_ns"] - max(last, r["start_ns"]))
        last = max(last, r["end_ns"])
    return busy


def record(case, job, *options):
    return case.tool("-p", job.pid, "--record", f"{STEPS.start}:{STEPS.stop}", "--no-prune", "--no-trace",
                     "--no-progress", *options).done(120)


def truth_of(case, job, tool, events):
    """Returns the log, the recorded steps, and the device work requested in them."""
    job.wait_steps(3)
    truth = Truth(case.dir / f"truth.{job.pid}")
    assert not truth.misuse, truth.misuse
    assert not tool.said("device.no-device-times"), tool.err
    steps = {e["step"]: (e["ts_ns"], e["ts_ns"] + e["dur_ns"]) for e in events if e["type"] == "step"}
    same(sorted(steps), list(STEPS), "steps")
    return truth, steps, list(truth.of(steps))


def check(case, mode, *args, devices=1, mixed=MIXED):
    """Checks one job. Also returns events, and the device work requested in the steps."""
    job = start(case, "--mode", mode, *args, devices=devices)
    tool = record(case, job)
    events = tool.events()
    _, steps, rows = truth_of(case, job, tool, events)
    check_activities(events, rows)
    check_owners(events, mode)
    check_tables(tool.report("--table", "all", "--row-limit", "0"), rows,
                 sum(end - begin for begin, end in steps.values()), mode, mixed)
    return events, rows


@test("dygraph: activities, owners, phases, steps and tables are the truth's")
def dygraph(case):
    check(case, "dygraph")


@test("to_static: the same")
def to_static(case):
    check(case, "to_static")


@test("a program of the static Executor: the same")
def static(case):
    check(case, "static")


def owned(events, wanted):
    """Counts per step how much of the wanted device work each operator and phase has."""
    by_id, found = {e["id"]: e for e in events if "id" in e}, collections.Counter()
    for e in events:
        if e["type"] == "device" and e["step"] in STEPS and wanted(e):
            found[owner(by_id, e), e["phase"]] += 1 / len(STEPS)
    return found


@test("auto_cast O1 and GradScaler: the same, and what they add")
def amp(case):
    events, rows = check(case, "dygraph", "--amp", mixed=(*MIXED, "matmul dygraph"))  # it casts, too
    assert sum("gemm_f16" in r["name"] for r in rows) == 6 * len(STEPS), "matrix products of halves"
    same(owned(events, lambda e: "CastGradNode" not in e["name"] and "CastFunctor<phi::dtype::float16, float>" in e["name"]),
         {("cast dygraph", "Forward"): 3, ("CastGradNode", "Backward"): 5}, "from halves")
    # An operator of _legacy_C_ops.
    same(owned(events, lambda e: "CheckFiniteAndUnscale" in e["name"]),
         {("check_finite_and_unscale dygraph", "Other"): 1}, "unscaled gradients")


@test("operators of _legacy_C_ops: the same, and theirs are their kernels")
def legacy(case):
    events, _ = check(case, "dygraph", "--legacy")
    same(owned(events, lambda e: "AccuracyCudaKernel" in e["name"] or e["kind"] == "Memset"),
         {("accuracy dygraph", "Forward"): 2}, "a kernel and a set")
    same(owned(events, lambda e: "TensorShufflingOp" in e["name"]),
         {("pixel_unshuffle dygraph", "Forward"): 1, ("pixel_unshuffleGradNodeCompat", "Backward"): 1}, "shuffles")


@test("an optimizer of _legacy_C_ops: Optimization, and its operators once")
def legacy_optimizer(case):
    job = start(case, "--optimizer", "Lars").wait_steps(10, timeout_s=180)
    for options in (), ("--no-prune",):
        tool = case.tool("-p", job.pid, "--record", f"{STEPS.start}:{STEPS.stop}", "--no-trace", "--no-progress",
                         *options).done(120)
        tables = tool.report("--row-limit", "0")
        same(rows_by("name", tables, "model")["Optimization"]["calls"], len(STEPS), "Optimization")
        found = [r for r in tables["operator"]["rows"] if "lars_momentum" in r["name"]]
        same([r["calls"] for r in found], [8 * len(STEPS)], f"rows of updates with {options}")
        job.wait_steps(3)
        events = tool.events()
        steps = {e["step"]: (e["ts_ns"], e["ts_ns"] + e["dur_ns"]) for e in events if e["type"] == "step"}
        kernels = [r["ns"] for r in Truth(case.dir / f"truth.{job.pid}").of(steps) if "MomentumLarsKernel" in r["name"]]
        same(len(kernels), 8 * len(STEPS), f"kernels of updates with {options}")
        same([r["gpu_total_ns"] for r in found], [sum(kernels)], f"GPU time of updates with {options}")


@test("a loader with workers, whose batches go to the device: the same, and its copies")
def loader(case):
    events, _ = check(case, "dygraph", "--workers", "2")
    # The loader returns page-locked memory. Its first reader copies that.
    same(owned(events, lambda e: e["kind"] == "Memcpy" and "HtoD" in e["name"] and e["value"] == 16 * 256 * 4),
         {("conv2d dygraph", "Forward"): 1}, "images")
    same(owned(events, lambda e: e["kind"] == "Memcpy" and "HtoD" in e["name"] and e["value"] == 16 * 8),
         {("unsqueeze dygraph", "Forward"): 1}, "labels")


@test("two devices in one process: the same of both, and copies between them")
def two_devices(case):
    events, rows = check(case, "dygraph", "--second-device", devices=2)
    for device in 0, 1:
        same(owned(events, lambda e, device=device: e["device"] == device and "AdamKernel" in e["name"]),
             {("adam_ dygraph", "Optimization"): 8}, f"updates on {device}")
    same(len([r for r in rows if r["name"] == "PtoP"]), 2 * len(STEPS), "copies between devices")


@test("--profile-memory: the allocator's bytes between two steps are those that it says itself")
def memory(case):
    job = start(case, "--no-loader", "--note-memory")
    tool = record(case, job, "--profile-memory")
    job.wait_steps(3)
    noted = [tuple(map(int, line.split()[1:])) for line in job.log.read_text().splitlines()
             if line.startswith("memory ") and len(line.split()) == 4]
    events = tool.events()
    steps = [e for e in events if e["type"] == "step"]
    begin, end = steps[0]["ts_ns"], steps[-1]["ts_ns"] + steps[-1]["dur_ns"]
    ours = [(e["ts_ns"], e["value"]) for e in events if e["type"] == "memory" and e.get("memory_device") == 0]
    pairs = [(a, b) for a, b in zip(noted, noted[1:]) if begin < a[0] and b[0] < end]
    assert len(pairs) >= 2, f"{len(pairs)} steps of {len(noted)}"
    for a, b in pairs:
        between = [n for ts, n in ours if a[0] < ts < b[0]]
        assert len(between) > 20, f"{len(between)} events"
        same(sum(between), b[1] - a[1], f"bytes of {len(between)} events")
        held, peak = 0, 0
        for n in between:
            held += n
            peak = max(peak, held)
        assert peak > 100_000, f"it holds {peak} more at most"
    tables = tool.report("--table", "memory", "--row-limit", "0")
    rows = [r for r in tables["memory"]["rows"] if r["section"] == "Place: GPU0, Allocated"]
    same(sum(r["increase_bytes"] for r in rows), sum(n for _, n in ours), "Memory, GPU0")


def profile(case, job):
    """Returns paddle.profiler's data about the device, by kernel: calls per step, mean time in ns."""
    theirs = case.dir / "theirs.json"
    job.signal(signal.SIGUSR1)
    process.wait_for(theirs.exists, 60, "paddle.profiler's events")
    profiled = json.loads(theirs.read_text())
    want = {name: (calls / profiled["steps"], ns / calls) for name, (calls, ns) in profiled["devices"].items()
            if not name.startswith("MEM")}
    assert len(want) > 20, want
    return want


def record_kernels(case, job):
    """Returns the same from a recorded window."""
    rows = record(case, job).report("--table", "kernel", "--row-limit", "0")["kernel"]["rows"]
    return {r["name"]: (r["calls"] / len(STEPS), r["gpu_total_ns"] / r["calls"]) for r in rows}


def check_second_opinion(ours, want):
    seen = 0
    for name, (calls, ns) in want.items():
        kept = any(re.search(pattern, name) for pattern, *_ in OWNERS)
        if name not in ours and not kept:
            continue  # the loss's calls depend on values, which the simulation does not compute
        assert name in ours, f"{name} is missing"
        assert abs(ours[name][1] - ns) <= 1, f"{name}: {ours[name][1]} ns, paddle.profiler has {ns}"
        if kept:
            same(ours[name][0], calls, name)
            seen += 1
    assert seen >= len(OWNERS), f"{seen} kinds of kernels"


@test("kernels: names, calls of a step and times are those of paddle.profiler")
def second_opinion(case):
    job = start(case, "--profile", case.dir / "theirs.json")
    want = profile(case, job)
    check_second_opinion(record_kernels(case, job), want)


@test("after a window paddle.profiler has the device, too: CUPTI's clock is as it was")
def second_opinion_afterwards(case):
    job = start(case, "--profile", case.dir / "theirs.json")
    ours = record_kernels(case, job)
    check_second_opinion(ours, profile(case, job))


@test("paddle.profiler at work loses no kernel: proftrace takes no device times, says why, and takes them later")
def profiler_at_work(case):
    path = case.dir / "theirs.json"
    job = start(case, "--profile", path, "--profile-on")
    per_step = sum(calls for calls, _ in record_kernels(case, job).values())
    job.signal(signal.SIGUSR1)
    time.sleep(2)  # the job logs no steps meanwhile
    tool = record(case, job)
    assert tool.said("device.no-device-times", "another tool uses CUPTI"), tool.err
    job.signal(signal.SIGUSR1)
    process.wait_for(path.exists, 60, "paddle.profiler's events")
    seen = json.loads(path.read_text())
    assert seen["steps"] > 25, seen
    # The loss's calls depend on values, so some steps have a kernel less.
    assert seen["kernels"] >= (per_step - 1) * seen["steps"], (per_step, seen)
    truth = Truth(case.dir / f"truth.{job.pid}")
    assert not truth.misuse, truth.misuse
    job.wait_steps(5)
    assert sum(calls for calls, _ in record_kernels(case, job).values()) > per_step - 1
