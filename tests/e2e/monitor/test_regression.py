# SPDX-License-Identifier: BSD-2-Clause
"""A job becomes slower for good: the monitor says so, and why."""
import signal

from lib import process
from lib.runner import test
from lib.tool import report
from monitored import Monitor, own

WARM_UP = 60
SLOWER_S = 0.016  # 4 samples of a batch, 4 ms more each
LONG_S = 240


@test("a loader that becomes slower: an alarm, a comparison with the baseline that names the loader, both kept")
def regression(case):
    job = case.job("named.py", own("slow"), "slow_loader.py", fresh=True).wait_steps(5)
    monitor = Monitor(case, own("slow"), "--window", "8", "--max-duty", "100%", "--pages", "all",
                      budget=("--budget", "90%"))
    before = monitor.wait_windows(job, WARM_UP + 2, LONG_S)
    assert before["regression"] == "none", before
    assert monitor.value("proftrace_regression_ratio") is None
    baseline, = monitor.store.glob("*.baseline.ptrec")
    assert baseline.stat().st_nlink == 2, baseline
    job.signal(signal.SIGUSR1)
    process.wait_for(lambda: monitor.rank(job)["regression_recording"], LONG_S, f"the comparison: {monitor.tool.err}")
    rank = monitor.rank(job)
    assert rank["regression"].startswith("step ") and rank["regression"].endswith(" UTC: dataloader"), rank
    assert rank["regression_baseline"] == baseline.name, rank
    alarm = monitor.store / rank["regression_recording"]
    assert alarm.name.endswith(".alarm.ptrec") and len(report(alarm, "--table", "steps")["steps"]["rows"]) >= 3 * 8, alarm
    grew = (mean_s(alarm) - mean_s(baseline))
    assert abs(grew / SLOWER_S - 1) < 0.5, grew
    assert monitor.value("proftrace_regression_ratio", cause="dataloader") > 0.2
    assert monitor.value("proftrace_regression") == 1
    line, = (line for line in monitor.tool.err.split("\n") if "longer since about" in line)
    assert "dataloader takes" in line and baseline.name in line and alarm.name in line, line
    page = monitor.html(f"/jobs/{job.pid}.html")
    assert "Steps take longer" in page and alarm.name in page and baseline.name in page, page
    assert monitor.ask(f"/jobs/{job.pid}/report.html?recording={alarm.name}")[0] == 200
    assert monitor.end() == 0, monitor.tool.err


def mean_s(recording):
    times = [row["time_ns"] for row in report(recording, "--table", "steps")["steps"]["rows"] if row["time_ns"]]
    return sum(times) / len(times) / 1e9
