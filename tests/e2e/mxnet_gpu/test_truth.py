# SPDX-License-Identifier: BSD-2-Clause
"""What the device did, by the simulation's log; and what is not known of it."""
import collections
import os
import pathlib
import re

from lib.device_truth import STEPS, Truth, of_event, of_row, same, simulated
from lib.runner import test

BUILD = pathlib.Path(os.environ["BUILD"])
SIM = BUILD / "simgpu/11"
simulated(11, "mxnet-gpu-python")
EDGE_NS = 50_000  # the engine's threads launch on while a window begins or ends
WHEELS = (SIM / "wheels").resolve()

# What the engine runs, by what the kernel computes.
OWNERS = [
    (r"AdamUpdateKernel", "engine: adam_update"),
    (r"cudnnConvolutionForward", "engine: Convolution"),
    (r"cudnnBatchNormalizationForwardTraining", "engine: BatchNorm"),
    (r"cudnnPoolingForward", "engine: Pooling"),
    (r"cudnnActivationForward", "engine: Activation"),
    (r"cudnnBatchNormalizationBackward|cudnnPoolingBackward|cudnnConvolutionBackward|cudnnActivationBackward",
     "engine: ImperativeBulk"),
]


def record(case, *options, mode="gluon", devices=1):
    path = ":".join(map(str, (SIM / "lib", WHEELS / "cuda_nvrtc/lib", WHEELS / "nvtx/lib")))
    job = case.job("mx_train.py", "--device", "gpu", "--mode", mode, fresh=True, python=SIM / "venv/bin/python",
                   LD_LIBRARY_PATH=path, SIMGPU_DEVICES=str(devices), SIMGPU_TRUTH=str(case.dir / "truth")).wait_steps(10, timeout_s=180)
    tool = case.tool("-p", job.pid, "--record", f"{STEPS.start}:{STEPS.stop}", "--no-prune", "--no-trace",
                     "--no-progress", *options).done(120)
    job.wait_steps(3)
    truth = Truth(case.dir / f"truth.{job.pid}")
    assert not truth.misuse, truth.misuse
    assert "no device times" not in tool.err, tool.err
    return tool, tool.events(), truth


def check_activities(events, truth):
    """All of the window but for its edges, to the nanosecond, and nothing that was not."""
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


@test("default detail: activities are the truth's; GPU times of operators and phases are not known, and it says so")
def default(case):
    tool, events, truth = record(case)
    check_activities(events, truth)
    tables = tool.report("--table", "all", "--row-limit", "0")
    names = {r["name"]: r for r in tables["operator"]["rows"]}
    for name in "Convolution", "FullyConnected", "adam_update":
        same(names[name].get("gpu_total_ns"), None, name)
    for phase in "Forward", "Backward", "Optimization":
        same({r["name"]: r for r in tables["model"]["rows"]}[phase].get("gpu_total_ns"), None, phase)
    for table in "operator", "model":
        assert any("are not known" in note for note in tables[table]["notes"]), tables[table]["notes"]
    inside = {r["name"] for r in truth.rows if r["kind"] == "kernel"}
    assert {r["name"] for r in tables["kernel"]["rows"]} <= inside


@test("--detail inner: each kernel below what the engine runs, with its GPU time")
def inner(case):
    tool, events, truth = record(case, "--detail", "inner")
    check_activities(events, truth)
    by_id = {e["id"]: e for e in events if "id" in e}
    seen, ns, first = collections.Counter(), collections.Counter(), {}
    for e in events:
        if e.get("name", "").startswith("engine: "):
            first[e["tid"]] = min(e["ts_ns"], first.get(e["tid"], e["ts_ns"]))
    for e in events:
        if e["type"] != "device" or e["kind"] != "Kernel" or e["step"] not in STEPS:
            continue
        span = launch = by_id[e["launch_id"]]
        while span and not span["kind"].startswith("Operator"):
            span = by_id.get(span.get("parent_id"))
        if not span and launch["ts_ns"] < first[launch["tid"]]:
            continue  # what ran when the window began
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


for MODE, DEVICES in ("hybrid", 1), ("hybrid_static", 1), ("module", 1), ("kv", 2):
    test(f"{MODE}, devices: {DEVICES}: activities are the truth's")(activities_of(MODE, DEVICES))
