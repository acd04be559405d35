# SPDX-License-Identifier: BSD-2-Clause
"""Monitors of two hosts of a job open their windows at the same moment."""
import json
import subprocess
import time

from lib import process
from lib.host import host
from lib.runner import test
from lib.tool import PROFTRACE, events
from monitored import Monitor, own
from test_all_ranks import Ranks

STEPS = 20
AHEAD_NS = 35_000_000
TOKEN = "s3cret"


def monitor_of(case, name, pid, token, wrap):
    # The limit on open windows is so small that none opens by itself.
    return Monitor(case, own(name), "--allow", f"pid:{pid}", "--token-file", token, "--max-duty", "0.001%",
                   allow=(), budget=(), wrap=wrap)


def rank_of(monitor, pid):
    found = [r for r in monitor.ranks() if r["pid"] == pid]
    return found[0] if found else None


def is_waiting(monitor, pid):
    rank = rank_of(monitor, pid)
    return rank and rank["state"] == "waiting"


def wall_steps(file):
    """Begins of the steps, by the wall clock of this machine."""
    head, *rest = events(file)
    return [e["ts_ns"] + head["wall_offset_ns"] for e in rest if e["type"] == "step"]


@test("monitors of two hosts, asked for the same time: the windows begin then, and one report has both, by one clock")
def same_moment(case):
    job = Ranks(case, "hosts", 2, "--uneven-ms", "60")
    pids = job.pids()
    token = case.dir / "token"
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o600)
    monitors = [monitor_of(case, "hosts", pid, token, host(case, name, ahead_ns))
                for pid, name, ahead_ns in zip(pids, ("node-a", "node-b"), (0, AHEAD_NS))]
    process.wait_for(lambda: all(map(is_waiting, monitors, pids)), 90, f"sessions: {[m.tool.err for m in monitors]}")
    check_refused(monitors[0], pids[0])
    at = int(time.time()) + 12
    for monitor, pid in zip(monitors, pids):
        status, text = monitor.post(f"/jobs/{pid}/record?steps={STEPS}&at=@{at}", TOKEN)
        assert status == 202 and f"@{at}" in text, (status, text)
        process.wait_for(lambda: monitor.tool.said("monitor.window-asked-for-later"), 5, f"a message: {monitor.tool.err}")
        for query in ("", f"?at=@{at + 60}"):
            assert monitor.post(f"/jobs/{pid}/record{query}", TOKEN)[0] == 409, query
    files = []
    for monitor, pid in zip(monitors, pids):
        process.wait_for(lambda: rank_of(monitor, pid)["windows"] == 1, 90, f"a window: {monitor.tool.err}")
        files.append(monitor.store / rank_of(monitor, pid)["latest_recording"])
    tables = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", *files], text=True, check=True,
                                       capture_output=True).stdout)
    check_begins(files, tables["ranks"]["rows"], at)
    notes = tables["ranks"]["notes"]
    assert any(note.startswith("The clock of node-b (rank 1) is ") and " ahead of that of node-a (rank 0)" in note and
               "This report corrects it." in note for note in notes), notes
    assert not any("do not overlap" in note for note in notes), notes
    assert tables["straggler"]["rows"][0]["straggler"] == 0, tables["straggler"]
    for monitor in monitors:
        assert monitor.end() == 0, monitor.tool.err


def check_refused(monitor, pid):
    now = int(time.time())
    for at in ("5", "@", "@-1", "@nan", "@1e9", f"@{now - 60}", f"@{now}", f"@{now + 700}", "@99999999999999999999",
               "@18446744073709551617", f"@{now + 60}&at=@{now + 70}", f"@{now + 60}&steps=5&steps=6", ""):
        status, text = monitor.post(f"/jobs/{pid}/record?at={at}", TOKEN)
        assert status == 400, (at, status, text)
    for query in ("at", f"at=@{now + 60}&at"):
        assert monitor.post(f"/jobs/{pid}/record?{query}", TOKEN)[0] == 400, query
    assert monitor.post(f"/jobs/{pid}/record?at=@{now + 60}")[0] == 401
    assert rank_of(monitor, pid)["state"] == "waiting"


def check_begins(files, rows, at):
    """Within a step or two of that time, and of each other."""
    step_ns = max(row["step_ns"] for row in rows)
    begins = [wall_steps(file)[0] for file in files]
    begins[1] -= AHEAD_NS  # to the first host's clock; the second one's window opens so much earlier
    for begin, asked_ns in zip(begins, (at * 10 ** 9, at * 10 ** 9 - AHEAD_NS)):
        assert 0 <= begin - asked_ns < 2 * step_ns, (begins, at, step_ns)
    assert abs(begins[0] - begins[1]) < 2 * step_ns, (begins, step_ns)
