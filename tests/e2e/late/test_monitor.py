# SPDX-License-Identifier: BSD-2-Clause
"""proftrace monitor with device times: windows of a job on the GPU, and nothing of CUPTI between them."""
import json
import signal
import subprocess

from gpu import LONG_S, PYTHON, GpuJob, compare
from lib import process
from lib.runner import test
from lib.tool import PROFTRACE
from monitored import Monitor
from test_torch import JOB, check_profiled, end, profile, train

FAST = ("--budget", "50%", "--max-duty", "20%")


def watch(case, job, *options):
    return Monitor(case, "none", "--allow", f"pid:{job.pid}", *options, budget=FAST)


def tables(recording):
    done = subprocess.run([PROFTRACE, "report", "-q", "--format", "json", "--table", "device,steps", recording],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def busy_s(recording):
    """Seconds in which the GPU ran a kernel, and those of the steps."""
    of = tables(recording)
    steps_s = sum(row["time_ns"] for row in of["steps"]["rows"] if row["time_ns"]) / 1e9
    share, = (row["utilization_percent"] for row in of["device"]["rows"] if row["device"] == "GPU0")
    return share / 100 * steps_s, steps_s


def is_off_between(monitor, job):
    rank = monitor.rank(job)
    return rank["state"] == "waiting" and not job.holds_cupti()


@test("the monitor's windows have device times, and the process has nothing of CUPTI between them")
def windows(case):
    job = train(case)
    threads = process.threads(job.pid)
    monitor = watch(case, job, "--device-times", "yes")
    for cnt in range(1, 5):
        monitor.wait_windows(job, cnt)
        process.wait_for(lambda: is_off_between(monitor, job), LONG_S, "CUPTI to be off between windows")
    rank = monitor.rank(job)
    assert rank["device_times"] == "recorded" and 0 < rank["devices"]["GPU0"] <= 1, rank
    assert monitor.end() == 0, monitor.tool.err
    job.wait_parked()
    assert process.threads(job.pid) == threads
    recordings = sorted(monitor.store.glob("*.ptrec"))
    assert len(recordings) >= 4, recordings
    for recording in recordings:
        assert compare(job, recording)[0], "a window without kernels"
    end(job)


@test("the monitor's figures of the GPU are those of its recordings")
def figures(case):
    job = train(case)
    monitor = watch(case, job, "--device-times", "yes")
    monitor.wait_windows(job, 3)
    # A window that is being read would be in the store, but not in the figures yet.
    monitor.tool.popen.send_signal(signal.SIGSTOP)
    process.wait_for(lambda: process.state(monitor.pid) == "T", 20, "the monitor to stop")
    sums = [busy_s(path) for path in sorted(monitor.store.glob("*.ptrec"))]
    monitor.tool.popen.send_signal(signal.SIGCONT)
    process.wait_for(lambda: monitor.rank(job)["windows"] >= len(sums), LONG_S, "the last window's figures")
    for at, name in enumerate(("proftrace_device_busy_seconds_total", "proftrace_device_sampled_seconds_total")):
        value = monitor.value(name, device="GPU0")
        assert value >= 0.999 * sum(s[at] for s in sums), (name, value, sums)
    ok = monitor.value("proftrace_device_windows_total", result="ok")
    assert ok >= len(sums) and monitor.value("proftrace_device_windows_total", result="missing") is None, ok
    shown = case.tool("top", "--once", "--format", "json", "--address", monitor.place).done(LONG_S)
    of_job, = json.loads(shown.out)["jobs"]
    assert 0 < of_job["gpus"] <= 1 and of_job["gpus"] == of_job["ranks"][0]["devices"]["GPU0"], of_job
    assert monitor.end() == 0, monitor.tool.err
    end(job)


@test("the monitor beside torch.profiler, which owns CUPTI: it says so, and records without device times")
def foreign_owner(case):
    job = train(case)
    profile(job)
    monitor = watch(case, job, "--device-times", "yes")
    rank = monitor.wait_windows(job, 2)
    assert rank["device_times"] == "refused" and "another tool" in rank["device_times_refused"], rank
    assert not rank["devices"], rank
    assert monitor.value("proftrace_device_windows_total", result="missing") >= 2
    assert monitor.value("proftrace_device_windows_total", result="ok") is None
    assert monitor.end() == 0, monitor.tool.err
    end(job)
    check_profiled(job)


@test("the monitor without --device-times loads no library into a job on the GPU")
def off(case):
    job = GpuJob(case, JOB, python=PYTHON)
    monitor = watch(case, job)
    rank = monitor.wait_windows(job, 2)
    assert rank["device_times"] == "off" and not rank["devices"], rank
    assert not job.has_library() and not job.cupti_calls()
    assert monitor.value("proftrace_device_windows_total", result="missing") is None
    assert monitor.end() == 0, monitor.tool.err
    end(job)
