# SPDX-License-Identifier: BSD-2-Clause
"""proftrace killed with SIGKILL in every state, then attached again."""
import signal
import subprocess
import time

from lib import process
from lib.job import PYTHON
from lib.runner import test
from lib.tool import PROFTRACE, STOPPED, row


def kill(tool):
    tool.popen.kill()
    tool.wait()


def attach_again(case, job, before):
    """The job is as it was, and a new proftrace can record its steps."""
    before.check()
    job.wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "0:2", "--no-trace").done()
    assert row(tool.report(), "summary")["steps"] == 2
    before.check(0)


def wait_probed(job):
    process.wait_for(lambda: process.is_probed(job.pid), 30, "the probes")


@test("killed while it starts and attaches")
def attach(case):
    job, before = case.training()

    def start():
        return case.tool("-p", job.pid, "--detail", "inner", "--record", "100000:100001")

    # proftrace attaches in the first seconds. Then it takes up to 0.3 s to put its probes in.
    for i in range(9):
        tool = start()
        if i > 3:
            wait_probed(job)
        time.sleep(i % 4 * 0.05)
        kill(tool)
        before.check()
        job.wait_steps(3)
    attach_again(case, job, before)


@test("Ctrl-C while it starts and attaches")
def interrupted(case):
    job, before = case.training()
    for i in range(8):
        tool = case.tool("-p", job.pid, "--detail", "inner", "--record", "100000:100001")
        process.wait_for(lambda: tool.said("capture.framework-found", "PyTorch"), 30, "its first words")
        if i > 4:
            wait_probed(job)
        time.sleep(i % 4 * 0.1)
        tool.interrupt().fails(STOPPED)
        assert i <= 4 or tool.said("capture.window-stopped", "seen"), tool.err
        assert tool.popen.returncode == 1 and not tool.said("attach.calibration-*"), tool.err
        before.check()
    job.wait_steps(3)
    attach_again(case, job, before)


@test("told to end twice within milliseconds, as timeout(1) does: the window is kept")
def told_twice(case):
    job, before = case.training()
    for _ in range(3):
        tool = case.tool("-p", job.pid, "--detail", "inner", "--no-trace").wait_recording()
        job.wait_steps(3)
        tool.signal(signal.SIGTERM)
        time.sleep(0.02)
        tool.signal(signal.SIGTERM)
        tool.done()
        assert row(tool.report(), "summary")["steps"] > 0, tool.out
    before.check()


HELD = """
import torch
open("loaded", "w").close()
open("sum", "w").write(str(torch.arange(10).sum().item()))
"""


@test("killed, or told to end, while a program that it has started stands still: that goes on")
def held(case):
    program = case.dir / "held.py"
    program.write_text(HELD)
    for end in signal.SIGKILL, signal.SIGINT:
        tool = case.tool("run", "--no-steps", "--no-trace", "--", PYTHON, program)
        process.wait_for(lambda: any(process.state(pid) == "t" for pid in process.children(tool.pid)), 60,
                         "the program to stand still")
        assert not (tool.dir / "loaded").exists(), tool.err
        tool.signal(end)
        process.wait_for(lambda: (tool.dir / "sum").exists() and (tool.dir / "sum").read_text() == "45", 60,
                         "the program's end")


@test("killed while it waits for a step")
def learning(case):
    job = case.job("mlp_train.py", "--pause")
    process.wait_for(lambda: job.log.read_text() == "paused\n", 30, "the pause")
    tool = case.tool("-p", job.pid, "--record", "0:2")
    wait_probed(job)
    time.sleep(0.5)
    kill(tool)
    assert not tool.recordings()
    job.signal(signal.SIGUSR1)
    job.wait_steps(5)
    attach_again(case, job, process.Snapshot(job.pid))


@test("killed while the window is closed")
def closed(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--schedule", "skip_first=100000,record=1")
    wait_probed(job)
    job.wait_steps(100)
    kill(tool)
    assert not tool.recordings()
    attach_again(case, job, before)


@test("killed while ready")
def ready(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--schedule", "ready=100000,record=1", "--detail", "inner")
    wait_probed(job)
    job.wait_steps(100)
    assert len(process.changed_text(job.pid)) > 1000, "the operators have no probes"
    kill(tool)
    assert not tool.recordings()
    attach_again(case, job, before)


@test("killed while it records; what it wrote opens")
def recording(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid).wait_recording()
    # A flush each second.
    process.wait_for(lambda: tool.recordings()[0].stat().st_size > 8192, 30, "some events")
    kill(tool)
    before.check()
    text = subprocess.run([PROFTRACE, "report", tool.recordings()[0]], text=True,
                          capture_output=True)
    assert text.returncode == 0, text.stderr
    assert "cut off" in text.stdout + text.stderr, "the report does not say that it was cut off"
    assert row(tool.report(), "summary")["steps"] > 2, text.stdout
    attach_again(case, job, before)


@test("killed while it detaches")
def detach(case):
    job, before = case.training()
    killed = 0
    for i in range(6):
        tool = case.tool("-p", job.pid, "--detail", "inner", "--no-trace", "--no-report")
        tool.wait_recording().interrupt()
        time.sleep(i * 0.03)
        kill(tool)
        killed += tool.popen.returncode == -signal.SIGKILL
        before.check()
        job.wait_steps(3)
    assert killed, "proftrace had ended before it was killed"
    attach_again(case, job, before)


def trace_events(case):
    """Names of the trace events of probes that are defined in the kernel."""
    mount = case.dir / "tracefs"
    mount.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tracefs", "nodev", mount], check=True)
    try:
        lines = (mount / "uprobe_events").read_text().splitlines()
    finally:
        subprocess.run(["umount", mount], check=True)
    return {line[2:].split()[0] for line in lines}


@test("killed with probes in perf events (--attach-method perf)")
def perf_events(case):
    job, before = case.training()
    options = ("-p", job.pid, "--attach-method", "perf", "--no-trace", "--record")
    tool = case.tool(*options, "2:100000").wait_recording()
    left = {name for name in trace_events(case) if f"_{tool.pid}/" in name}
    assert left, "it used no trace events"
    kill(tool)
    before.check()
    job.wait_steps(3)
    tool = case.tool(*options, "0:2").done()
    assert row(tool.report(), "summary")["steps"] == 2
    before.check(0)
    assert not left & trace_events(case), "what the killed one had defined is still there"
    assert not any(f"_{tool.pid}/" in name for name in trace_events(case))
