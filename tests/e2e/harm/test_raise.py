# SPDX-License-Identifier: BSD-2-Clause
"""Errors raised and caught under every probe."""
import os
import signal
import threading

from lib.runner import test
from lib.tool import calls

LOCK = threading.Lock()
COUNT = int(os.environ.get("HARM_ERRORS") or 10000)  # an error takes PyTorch 2.0 20 ms
EXPECTED = {}


def expected(case):
    """Returns the job's output without proftrace."""
    with LOCK:
        if not EXPECTED:
            job = case.job("raise_caught.py", "--count", COUNT).wait_steps(1)
            job.signal(signal.SIGUSR1)
            assert job.wait(400) == 0, job.err.read_text()
            EXPECTED["out"] = job.output()
            assert EXPECTED["out"].count(f"caught {COUNT}") == 7, EXPECTED["out"]
    return EXPECTED["out"]


def raise_under(case, *options):
    want = expected(case)
    job = case.job("raise_caught.py", "--count", COUNT).wait_steps(3)
    tool = case.tool("-p", job.pid, "--no-trace", "--no-report", *options).wait_recording()
    job.signal(signal.SIGUSR1)
    status = job.wait(400)
    tool.done()
    assert status == 0, f"the job ended with {status}: {job.err.read_text()}"
    assert job.output() == want, f"printed {job.output()} instead of {want}"
    return tool.report()


@test("errors caught at --detail phase")
def phase(case):
    tables = raise_under(case, "--detail", "phase")
    steps = tables["summary"]["rows"][0]["steps"]
    assert steps > COUNT // 100, f"only {steps} steps were seen"


@test("errors caught at --detail operator")
def operator(case):
    tables = raise_under(case, "--detail", "operator", "--no-prune")
    # calls from torch.mm and from torch.ops
    assert calls(tables, "aten::mm") >= 2 * COUNT, "the probes were not there"
    assert calls(tables, "aten::imag") == COUNT, "the attribute's probes were not there"


@test("errors caught at --detail inner")
def inner(case):
    tables = raise_under(case, "--detail", "inner")
    # calls from torch.mm and the boxed call
    assert calls(tables, "aten::mm") >= 2 * COUNT, "the probes were not there"


@test("an operator that raises ends where the error is caught, not where the next one begins")
def ends(case):
    cnt, pause_s = 30, 0.02
    for detail in "operator", "inner":
        job = case.job("raise_caught.py", "--count", cnt, "--pause-s", pause_s).wait_steps(3)
        tool = case.tool("-p", job.pid, "--no-trace", "--no-report", "--detail", detail, "--no-prune")
        tool.wait_recording()
        job.signal(signal.SIGUSR1)
        assert job.wait(100) == 0, job.err.read_text()
        tables = tool.done().report()
        for name, raised in ("aten::mm", 2 * cnt), ("aten::imag", cnt):
            rows = [row for row in tables["operator"]["rows"] if row["name"] == name]
            assert calls(tables, name) >= raised or detail == "inner", (detail, rows)
            assert sum(row["cpu_total_ns"] for row in rows) < raised * pause_s * 1e9 / 3, (detail, rows)


@test("errors caught at --detail inner with shapes and memory")
def everything(case):
    tables = raise_under(case, "--detail", "inner", "--record-shapes", "--profile-memory")
    assert calls(tables, "aten::mm") >= 2 * COUNT, "the probes were not there"


@test("errors caught at --detail operator with shapes")
def arguments(case):
    tables = raise_under(case, "--detail", "operator", "--no-prune", "--record-shapes")
    assert calls(tables, "aten::mm") >= 2 * COUNT, "the probes were not there"
