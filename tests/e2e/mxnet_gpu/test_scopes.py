# SPDX-License-Identifier: BSD-2-Clause
"""MXNet 2: GPU memory by profiler scope must be as in MXNet's own GPU memory profiler at the same moments."""
import csv
import io
import os
import signal
import subprocess

from lib import process
from lib.device_truth import ROOT, same
from lib.runner import test
from lib.tool import PROFTRACE
from test_truth import record, settings

PYTHON = subprocess.run([ROOT / "scripts/mxnet2-gpu-python"], stdout=subprocess.PIPE, text=True, check=True,
                        env=dict(os.environ, BASE_PYTHON="")).stdout.strip()
HEAD = ["Attribute Name", "Requested Size", "Device", "Actual Size", "Reuse?"]


def rows_of(text):
    head, *rows = csv.reader(io.StringIO(text))
    same(head, HEAD, "columns")
    return sorted(rows)


def traced(case, *args, devices=1):
    """Starts a job that has made its steps and makes some more within the window. Returns the tool and the job's
    pid."""
    job = case.job("mx_scopes.py", "--devices", devices, "--prefix", case.dir / "theirs", *args, fresh=True,
                   python=PYTHON, **settings(case, devices))

    def wait_word(word, what):
        process.wait_for(lambda: job.poll() is not None or word in job.log.read_text().split(), 180, what)
        assert job.poll() is None, job.err.read_text()

    wait_word("idle", "ten steps")
    tool = case.tool("-p", job.pid, "--no-steps", "--duration", "120s", "--profile-memory", "--no-prune", "--no-trace",
                     "--no-progress").wait_recording()
    job.signal(signal.SIGUSR1)
    wait_word("profiled", "the steps in the window")
    tool.interrupt().done(60)
    return tool, job.pid


def theirs_of(case, pid):
    rows = rows_of((case.dir / f"theirs-pid_{pid}.csv").read_text())
    assert len(rows) > 10 and {"batch", "updater"} <= {row[0].split(":")[0] for row in rows}, rows
    return [row for row in rows if row[0] != "nvml_amend"]


def ours_of(tool):
    done = subprocess.run([PROFTRACE, "export", "-f", "gpu-memory-profile", "-o", "-", str(tool.recordings()[0])],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return rows_of(done.stdout)


def held_of(events):
    """Returns the number of blocks that arrays hold at the end, and their bytes, by name and device, only from the
    events."""
    live = {}
    for e in sorted((e for e in events if "ts_ns" in e), key=lambda e: e["ts_ns"]):
        block = live.get(e.get("address"))
        if e["type"] == "memory" and not e.get("name") and e.get("memory_device") is not None:
            if e["value"] > 0:
                live[e["address"]] = [None, e["memory_device"], e["value"]]
            else:
                live.pop(e["address"], None)
        elif e.get("category") == "storage" and not e.get("value") and block:
            block[0] = e["name"]
    held = {}
    for name, device, size in live.values():
        cnt, total = held.get((name, device), (0, 0))
        held[name, device] = cnt + 1, total + size
    return held


def check_table(tool):
    rows = tool.report("--table", "storage", "--row-limit", "0")["storage"]["rows"]
    same({(r["name"], r["device"]): (r["held_cnt"], r["requested_bytes"]) for r in rows if r["held_cnt"]},
         held_of(tool.events()), "the table")


def scopes(devices):
    def check(case):
        tool, pid = traced(case, devices=devices)
        theirs = theirs_of(case, pid)
        same({row[2] for row in theirs}, set(map(str, range(devices))), "devices")
        same(ours_of(tool), theirs, "the csv")
        check_table(tool)
    return check


for DEVICES in 1, 2:
    test(f"MXNet 2, devices: {DEVICES}: memory by profiler scope is MXNet's own csv")(scopes(DEVICES))


@test("MXNet 2, its profiler off: memory by profiler scope is the csv of a profiled run")
def unprofiled(case):
    theirs = theirs_of(case, traced(case)[1])
    tool, _ = traced(case, "--unprofiled")
    ours = ours_of(tool)
    same([row[:3] for row in ours], [row[:3] for row in theirs], "names, requested sizes, devices")
    # The pool gives other blocks again in each run. Blocks from before the window have no size.
    known = {tuple(row[:4]) for row in theirs}
    assert sum(row[3] != "" for row in ours) > 5, ours
    same([row for row in ours if row[3] and tuple(row[:4]) not in known], [], "actual sizes")
    check_table(tool)


@test("MXNet 1.9.1 has no profiler scopes, which the table and the export say")
def without(case):
    tool, _, _ = record(case, "--profile-memory")
    table = tool.report("--table", "storage")["storage"]
    same(table["rows"], [], "rows")
    assert any("this version of MXNet has no profiler scopes" in note for note in table["notes"]), table["notes"]
    done = subprocess.run([PROFTRACE, "export", "-f", "gpu-memory-profile", "-o", "-", str(tool.recordings()[0])],
                          capture_output=True, text=True)
    assert done.returncode and "no GPU memory by profiler scope" in done.stderr, done.stderr
