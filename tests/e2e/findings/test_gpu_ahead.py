# SPDX-License-Identifier: BSD-2-Clause
"""A device that is behind its host. Its work during the recorded steps must be as in its truth log."""
import pathlib
import re
import signal

from lib.runner import test
from test_findings import SIMGPU


def union(intervals):
    total = until = 0
    for begin, end in sorted(intervals):
        begin = max(begin, until)
        if begin < end:
            total, until = total + end - begin, end
    return total


def clipped(intervals, parts):
    """Returns the pieces of the intervals that lie in the parts."""
    for begin, end in intervals:
        for first, last in parts:
            if begin < last and end > first:
                yield max(begin, first), min(end, last)


def truth(prefix, pid, kind):
    rows = [line.split("\t") for line in pathlib.Path(f"{prefix}.{pid}").read_text().splitlines()[1:]]
    return [(int(row[4]), int(row[5])) for row in rows if row[0] == kind]


def known_from(report, begin, kernels):
    """Returns the window's begin. If CUPTI started too late to report the kernels that ran then, returns the begin of
    the first kernel that it reported. The report says how long the device was unknown."""
    said = re.search(r"GPU0: not known for the first ([0-9.]+) (us|ms|s),", " ".join(report["device"]["notes"]))
    if not said:
        return begin
    unknown = float(said[1]) * {"us": 1e3, "ms": 1e6, "s": 1e9}[said[2]]
    known = min((first for first, _ in kernels), key=lambda first: abs(first - begin - unknown))
    assert abs(known - begin - unknown) < unknown / 100, (known - begin, unknown)
    return known


def check_times(tool, prefix, pid):
    events = tool.events()
    steps = [(e["ts_ns"], e["ts_ns"] + e["dur_ns"]) for e in events if e.get("type") == "step"]
    kernels = truth(prefix, pid, "kernel")
    report = tool.report("--table", "device,overview")
    known = known_from(report, steps[0][0], kernels)
    parts = [(max(begin, known), end) for begin, end in steps if end > known]
    busy = union(clipped(kernels, parts))
    percent = 100 * busy / sum(end - begin for begin, end in parts)
    gpu = [r for r in report["device"]["rows"] if r["device"] == "GPU0"][0]["utilization_percent"]
    assert abs(gpu - percent) < 0.01, (gpu, percent)
    row = [r for r in report["overview"]["rows"] if r["event_type"] == "Kernel"][0]
    assert abs(row["gpu_time_ns"] - busy) <= len(kernels), (row, busy)
    assert row["calls"] == sum(1 for k in kernels if list(clipped([k], parts))), row
    assert all(r["ratio_percent"] <= 100 for r in report["overview"]["rows"]), report["overview"]
    assert percent > 90, percent


@test("a host that waits for a device which is behind, on the simulated GPU")
def ahead(case):
    prefix = case.dir / "truth"
    job = case.job("gpu_ahead.py", python=SIMGPU, SIMGPU_COPY_MAX_MB="1", SIMGPU_TRUTH=str(prefix)).wait_steps(40)
    tool = case.tool("-p", job.pid, "--duration", "2s", "--no-trace").done()
    job.wait_steps(40)  # so that the truth is complete
    job.signal(signal.SIGTERM)
    job.wait()
    check_times(tool, prefix, job.pid)
    rows = {row["rule"]: row for row in tool.report("--table", "findings")["findings"]["rows"]}
    found = rows["gpu_bound"]
    assert found["finding"].startswith("GPU-bound: the host waits for GPU0, "), found
    assert found["share_percent"] > 50 and "most in cudaDeviceSynchronize" in found["evidence"], found
    assert not set(rows) & {"device_idle", "outside_phases", "synchronization", "launch_bound"}, rows
