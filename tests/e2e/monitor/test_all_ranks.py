# SPDX-License-Identifier: BSD-2-Clause
"""Windows of all ranks of a job at the same moment, and the straggler that they tell."""
import json
import os
import signal
import subprocess

from lib import process
from lib.job import ENV, PYTHON, WORKLOADS
from lib.runner import test
from lib.tool import PROFTRACE, events
from monitored import Monitor, own

SLOW, SLOW_MS = 0, 60


class Ranks:
    """torchrun with some ranks of ddp.py, of which one sleeps in its forward pass."""

    def __init__(self, case, name, cnt, *args):
        out = open(case.dir / "out", "w")
        self.launcher = subprocess.Popen(
            [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", str(cnt), "--rdzv-id", name, "--rdzv-backend",
             "c10d", "--rdzv-endpoint", "127.0.0.1:0", WORKLOADS / "named.py", "--steps-to", case.dir / "log", own(name),
             "ddp.py", "--slow-rank", str(SLOW), "--slow-ms", str(SLOW_MS), *args],
            stdout=out, stderr=out, env=ENV, start_new_session=True)
        case.finally_(self.stop)
        self.logs = [case.dir / f"log.{rank}" for rank in range(cnt)]
        process.wait_for(lambda: all(log.exists() and len(log.read_text().splitlines()) > 5 for log in self.logs), 120,
                         "steps of all ranks")

    def pids(self):
        """Returns the process ids by rank."""
        found = {}
        for pid in process.children(self.launcher.pid):
            with open(f"/proc/{pid}/environ", "rb") as file:
                found[int(dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)[b"RANK"])] = pid
        return [found[rank] for rank in range(len(self.logs))]

    def stop(self):
        for pid in [*process.descendants(self.launcher.pid), self.launcher.pid]:
            os.kill(pid, signal.SIGKILL)
        self.launcher.wait()


def job_windows(monitor, result):
    return monitor.value("proftrace_monitor_job_windows_total", result=result)


def begins(files):
    return [min(e["ts_ns"] for e in events(file) if e.get("type") == "step") for file in files]


def are_together(monitor, watched):
    """Those of the latest window of all ranks. On a busy host the first may open late: the next have a longer lead."""
    ranks = {r["rank"]: r for r in monitor.ranks() if r["latest_recording_of_all_ranks"]}
    files = [monitor.store / r["latest_recording_of_all_ranks"] for r in ranks.values()]
    if len(ranks) < watched:
        return None
    opened = begins(files)
    return ranks if max(opened) - min(opened) < 2e9 * max(r["step_seconds"] for r in ranks.values()) else None


def check_windows(monitor, watched):
    """They begin within a step or two, and name the rank that sleeps."""
    found = []

    def is_named():
        ranks = are_together(monitor, watched)
        found[:] = [ranks] if ranks and any(r["straggler"] for r in ranks.values()) else []
        return found

    process.wait_for(is_named, 240, f"a straggler: {monitor.tool.err}")
    ranks, = found
    assert [r for r, rank in ranks.items() if rank["straggler"]] == [str(SLOW)], ranks
    # The others wait as long as it sleeps; the rest of a step is short.
    wait_ms = ranks[str(SLOW)]["straggler"] * ranks[str(SLOW)]["step_seconds"] * 1e3
    assert 0.6 * SLOW_MS < wait_ms < 1.4 * SLOW_MS and ranks[str(SLOW)]["straggler_phase"] == "Forward", ranks
    files = [monitor.store / rank["latest_recording_of_all_ranks"] for rank in ranks.values()]
    tables = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", *files], text=True, check=True,
                                       capture_output=True).stdout)
    assert len(tables["ranks"]["rows"]) == watched and tables["straggler"]["rows"][0]["straggler"] == SLOW, tables
    assert not any("do not overlap" in note for note in tables["ranks"]["notes"]), tables
    return ranks


@test("windows of all ranks at once: the slow one is named in metrics and pages; without one of them the others are "
      "recorded, and it is counted")
def all_ranks(case):
    Ranks(case, "all", 3)
    file = case.dir / "proftrace.conf"
    file.write_text("max-ranks = 2\nall-ranks = 1\n")
    monitor = Monitor(case, own("all"), "--config", file, "--max-duty", "90%", budget=("--budget", "99%"))
    check_windows(monitor, 2)
    process.wait_for(lambda: job_windows(monitor, "partial"), 20, "its count")
    assert job_windows(monitor, "ok") == 0, monitor.text("/metrics")
    assert monitor.value("proftrace_monitor_job_window_ranks_missing_total", reason="not_ready") >= 1
    file.write_text("max-ranks = 3\nall-ranks = 2\n")
    os.kill(monitor.pid, signal.SIGHUP)
    process.wait_for(lambda: job_windows(monitor, "ok"), 150, f"all three: {monitor.tool.err}")
    ranks = check_windows(monitor, 3)
    for rank, figures in ranks.items():
        ratio = monitor.value("proftrace_straggler_ratio", rank=rank)
        assert (ratio > 0.3) if rank == str(SLOW) else ratio == 0, (rank, ratio)
        assert ("straggler" in monitor.html(f"/jobs/{figures['pid']}")) == (rank == str(SLOW)), rank
        assert monitor.value("proftrace_monitor_overhead_ratio", rank=rank) < 0.99, rank
    assert monitor.tool.said("monitor.straggler-found", str(SLOW), "Forward"), monitor.tool.err
    # Now and then: others are of one rank alone.
    windows = sum(r["windows"] for r in ranks.values())
    assert windows > sum(job_windows(monitor, result) for result in ("ok", "partial")), windows
    assert monitor.end() == 0, monitor.tool.err
