# SPDX-License-Identifier: BSD-2-Clause
"""Ranks over the simulated NCCL whose hosts do not wait for their devices."""
import json
import subprocess

from lib.job import PYTHON, ROOT
from lib.runner import test
from lib.tool import PROFTRACE
from test_job import BUILD, SIMGPU_PYTHON, Launched

# The device is slower than its host, so the host runs ahead until the device's queue is full.
SLOW_DEVICE = {"SIMGPU_COPY_MAX_MB": "1", "SIMGPU_TFLOPS": "0.5"}


def percents(tables):
    for name, table in tables.items():
        for row in table["rows"] if name != "schema_version" else ():
            for key, value in row.items():
                if key.endswith("percent") and key != "cpu_percent" and value is not None:
                    yield name, key, value, row


def check_shares(tables):
    """The process's share of CPU time is of one core."""
    for name, key, value, row in percents(tables):
        assert value <= 100 or row.get("device") == "CPU(Process)", (name, key, row)


def report(path):
    """Returns the report of one rank."""
    tables = json.loads(subprocess.run([PROFTRACE, "report", path, "--format", "json"], capture_output=True, text=True,
                                       check=True).stdout)
    assert tables["kernel"]["rows"], tables["kernel"]
    return tables


def record(case, *args, ranks=2, env=()):
    subprocess.run(["make", "--no-print-directory", "-s", "-C", ROOT, f"BUILD={BUILD}",
                    "CUDA=13", f"SIMGPU_PYTHON={PYTHON}", "simgpu"], check=True)
    job = Launched(case, *args, python=SIMGPU_PYTHON, script="ddp_ahead.py", ranks=ranks,
                   env={**SLOW_DEVICE, **dict(env)})
    tool = case.tool("--job", job.popen.pid, "--record", "2:14", "--no-trace", "--format", "json").done(120)
    tables = json.loads(tool.out)
    rows = tables["ranks"]["rows"]
    assert [r["rank"] for r in rows] == list(range(ranks)), rows
    for r in rows:
        parts = sum(r[k] for k in ("dataloader_ns", "forward_ns", "backward_ns", "optimization_ns",
                                   "others_ns", "blocked_ns"))
        assert 0.97 < parts / r["step_ns"] < 1.03, r
        assert r["collectives_ns"] > 0 < r["compute_ns"], r
    assert any("behind their hosts" in n for n in tables["ranks"]["notes"]), tables["ranks"]["notes"]
    check_shares(tables)
    for path in tool.recordings():
        check_shares(report(path))
    return tables


def expect_straggler(tables, phase):
    found, = tables["straggler"]["rows"]
    first, = tables["findings"]["rows"]
    assert found["straggler"] == 1 and found["phase"] == phase, tables
    assert first["rule"] == "straggler" and "for rank 1, because of its" in first["finding"], first
    assert first["cost_ns"] == found["others_wait_ns"] > 0, (first, found)


@test("hosts ahead of their devices: the rank that sleeps in each step is waited for")
def sleeps(case):
    tables = record(case, "--slow-rank", 1, "--slow-ms", 60, env={"SIMGPU_TFLOPS": "60"})
    expect_straggler(tables, "Others")
    first, = tables["findings"]["rows"]
    assert "its thread sleeps for" in first["evidence"] and "time.sleep" in first["next"], first
    assert 30e6 < tables["straggler"]["rows"][0]["others_wait_ns"], tables


@test("hosts ahead of their devices: the rank whose device is slower is waited for")
def slow_device(case):
    rules = case.dir / "rules"
    rules.write_text("*sim_*  dev=1 scale=3\n")
    tables = record(case, env={"SIMGPU_RULES": str(rules)})
    expect_straggler(tables, "GPU computation")


@test("hosts ahead of their devices, three ranks alike: none is named")
def alike(case):
    tables = record(case, ranks=3)
    assert not tables["findings"]["rows"], tables["findings"]
    assert tables["straggler"]["rows"][0]["straggler"] is None, tables["straggler"]
