# SPDX-License-Identifier: BSD-2-Clause
"""proftrace must find and correct a wrong device clock, from the bounds of launches and waits."""
import json
import subprocess

from gpu import LONG_S, TRAIN, GpuJob, compare, notes, record
from lib.runner import test
from lib.tool import PROFTRACE

ROOM_NS = 100_000  # a busy machine's launches and waits take some time


def recorded(case, *options, **settings):
    """The tool, the job and the recording."""
    job = GpuJob(case, TRAIN, 0, 1000, 2, 2, 0, SIMGPU_DEVICES="2", **settings)
    tool = record(case, job, "--duration", "700ms").done(LONG_S)
    return tool, job, tool.recordings()[0]


def corrections(path):
    """Returns the corrections by device, from the head of the events."""
    done = subprocess.run([PROFTRACE, "export", "--format", "jsonl", "-o", "-", path], capture_output=True, text=True,
                          check=True)
    head = json.loads(done.stdout.splitlines()[0])
    return {c["device"]: c for c in head.get("device_clocks", ())}


def labels(path):
    """Returns the devices' labels in the Chrome trace."""
    done = subprocess.run([PROFTRACE, "export", "--format", "chrome", "-o", "-", path], capture_output=True, text=True,
                          check=True)
    return {e["pid"]: e["args"]["labels"] for e in json.loads(done.stdout)["traceEvents"]
            if e["name"] == "process_labels" and "GPU" in e["args"]["labels"]}


@test("a clock that agrees is not corrected")
def healthy(case):
    tool, job, path = recorded(case)
    assert not corrections(path) and "clock" not in notes(tool), notes(tool)
    compare(job, path)
    job.end()


@test("a clock ahead of the host's, or behind it: corrected, and told")
def offset(case):
    for ns, side in (300_000, "ahead of"), (-300_000, "behind"), (-4_000_000, "behind"):
        tool, job, path = recorded(case, SIMGPU_CUPTI_OFFSET_NS=str(ns))
        found = corrections(path)
        assert found.keys() == {0, 1}, found
        for dev, c in found.items():
            assert abs(c["shift_ns"] + ns) < ROOM_NS and c["low_ns"] <= -ns <= c["high_ns"], (ns, c)
            assert c["ppm"] == 0, c
            assert f"clock corrected by {c['shift_ns'] / 1e6:+.3f} ms" in labels(path)[dev], labels(path)
            assert f"GPU{dev}'s clock is {side} the host's by " in notes(tool), notes(tool)
        compare(job, path, ROOM_NS)
        job.end()


@test("a clock of one device alone")
def one_device(case):
    tool, job, path = recorded(case, SIMGPU_CUPTI_OFFSET_NS="200000", SIMGPU_CUPTI_OFFSET_DEVICE="1")
    assert corrections(path).keys() == {1}, corrections(path)
    assert "GPU0's" not in notes(tool), notes(tool)
    compare(job, path, ROOM_NS)
    job.end()


@test("a clock that drifts")
def drift(case):
    for ppm in 800, -800:
        tool, job, path = recorded(case, SIMGPU_CUPTI_DRIFT_PPM=str(ppm))
        for c in corrections(path).values():
            assert abs(c["ppm"] + ppm) < 0.3 * abs(ppm), c
        assert "GPU1's clock drifts from the host's by " in notes(tool), notes(tool)
        compare(job, path, ROOM_NS)
        job.end()


@test("a clock that jumps is told, and not corrected")
def jumps(case):
    tool, job, path = recorded(case, SIMGPU_CUPTI_JUMP_NS="2000000", SIMGPU_CUPTI_JUMP_EVERY_MS="150")
    assert not any("shift_ns" in c for c in corrections(path).values()), corrections(path)
    assert "GPU0's clock jumps against the host's" in notes(tool), notes(tool)
    job.end()
