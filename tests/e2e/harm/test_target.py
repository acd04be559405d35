# SPDX-License-Identifier: BSD-2-Clause
"""The target does something unusual in the middle of a window, threads and processes that it makes
included."""
import pathlib
import re
import signal
import time

from lib import process
from lib.job import torch_lib
from lib.runner import test
from lib.tool import calls, row


def act(case, action, *options):
    """Opens a window on a job, then tells the job to do the action."""
    job, before = case.training("--on-usr1", action)
    tool = case.tool("-p", job.pid, "--no-trace", "--detail", "inner", *options).wait_recording()
    job.wait_steps(3)
    job.signal(signal.SIGUSR1)
    return job, before, tool


def kept(tool, how="ended"):
    """The window up to the target's end."""
    tool.done(30)
    what, seen = next(m.arguments for m in tool.messages() if m.key == "cli.target-ended-in-window")
    assert what == f"the target {how}", tool.err
    assert re.fullmatch(r"\d+ steps were seen, \d+ of them before step 0", seen), tool.err
    assert row(tool.report(), "summary")["steps"] >= 2
    assert "events lost: 0" in tool.out, tool.out[-1000:]


@test("target ends by itself in the window")
def finish(case):
    job, _, tool = act(case, "finish")
    assert job.wait() == 0, job.err.read_text()
    kept(tool)


@test("target ends in the first of three windows: how many steps it made, and what there is")
def finish_early(case):
    job, _, tool = act(case, "finish", "--schedule", "record=1000000,repeat=3")
    assert job.wait() == 0, job.err.read_text()
    tool.done(30)
    _, seen, begun, wanted = next(
        m.arguments for m in tool.messages() if m.key == "cli.target-ended-before-last-window")
    assert re.fullmatch(r"\d+ steps were seen, \d+ of them before step 0", seen), tool.err
    assert (begun, wanted) == (1, 3), tool.err


@test("target exits at once in the window")
def exits(case):
    job, _, tool = act(case, "exit")
    assert job.wait() == 3
    kept(tool)


@test("target aborts in the window")
def aborts(case):
    job, _, tool = act(case, "abort")
    assert job.wait() == -signal.SIGABRT
    kept(tool)


@test("target is killed in the window")
def killed(case):
    job, _, tool = act(case, "finish")
    job.signal(signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL
    kept(tool)


@test("target executes another program in the window")
def executes(case):
    job, _, tool = act(case, "exec")
    kept(tool, "replaced its program (exec)")
    assert "The target replaced its program (exec) during the window" in tool.out, tool.out[-1000:]
    assert job.wait() == 0, job.err.read_text()
    assert job.output() == "second image 499500\n"


@test("target ends while proftrace waits for its steps")
def ends_early(case):
    job = case.job("mlp_train.py", "--pause")
    process.wait_for(lambda: job.log.read_text() == "paused\n", 30, "the pause")
    tool = case.tool("-p", job.pid, "--record", "0:2")
    process.wait_for(lambda: process.is_probed(job.pid), 30, "the probes")
    job.signal(signal.SIGKILL)
    tool.fails("capture.window-target-ended*", job.pid, "no step was seen")
    assert not tool.recordings()


@test("target forks in the window, and its child works")
def forks(case):
    job, before, tool = act(case, "fork")
    process.wait_for(lambda: "child trained" in job.output(), 30, "the child")
    job.wait_steps(3)
    tool.interrupt().done()
    # Only the child calls this operator, so proftrace followed the child.
    assert calls(tool.report(), "aten::atan") == 5
    before.check()


@test("target forks in the window, and the child is left alone")
def forks_unfollowed(case):
    job, before, tool = act(case, "fork", "--no-follow")
    process.wait_for(lambda: "child trained" in job.output(), 30, "the child")
    tool.interrupt().done()
    assert calls(tool.report(), "aten::atan") == 0
    before.check()


@test("thread that starts in the window")
def late_thread(case):
    job, before, tool = act(case, "thread")
    process.wait_for(lambda: "thread trained" in job.output(), 30, "the thread")
    tool.interrupt().done()
    assert calls(tool.report(), "aten::atan") == 5
    before.check()


def worker_name(parent):
    """What a worker of the data loader is called: as PyTorch calls it, or, by 2.4 and before, as the
    thread that forked it: `python`, by 2.4 `pt_main_thread`."""
    source = torch_lib().parent / "utils/data/_utils/worker.py"
    if "pt_data_worker" in source.read_text():
        return "pt_data_worker"
    return pathlib.Path(f"/proc/{parent}/comm").read_text().rstrip()


@test("data loader workers forked for each epoch in the window")
def workers(case):
    # A worker has its probes some 20 ms after its fork; on a busy machine that may take longer.
    job, _ = case.training("--workers", 2, "--samples", 640, "--worker-sleep", 2)
    tool = case.tool("-p", job.pid, "--record", "2:122", "--detail", "inner", "--no-trace").done()
    tables = tool.report()
    assert row(tables, "summary")["steps"] == 120, tool.out
    # Three epochs of 640 samples, without those loaded before the window opened or after it closed.
    cnt = calls(tables, "aten::cosh")
    assert 2 * 640 <= cnt <= 4 * 640, f"{cnt} calls in the workers"
    assert re.search("process(es were| was) forked in the window", tool.out), tool.out
    threads = {r["name"] for r in tool.report("--table", "sched")["sched"]["rows"]}
    name = worker_name(job.pid)
    workers_seen = {thread for thread in threads - {f"{name} ({job.pid})"} if name in thread}
    assert len(workers_seen) >= 4, f"threads seen: {threads}"
    job.wait_steps(8)
    assert not process.changed_text(job.pid)


@test("data loader workers spawned for each epoch in the window")
def spawned_workers(case):
    job, _ = case.training("--workers", 2, "--samples", 640, "--start-method", "spawn")
    tool = case.tool("-p", job.pid, "--record", "2:42", "--detail", "inner", "--no-trace").done()
    # An epoch begins in it. What is fetched ahead (64) may have been loaded before; workers that
    # were there before the attach have 440 to load at most by then.
    cnt = calls(tool.report(), "aten::cosh")
    assert 500 < cnt <= 2 * 640, f"{cnt} calls in the workers: {tool.out}"
    # Processes that ended have names, and so have the programs that they ran while importing (ldconfig).
    threads = {r["name"] for r in tool.report("--table", "sched")["sched"]["rows"]}
    assert not [name for name in threads if name.startswith("thread ")], threads


@test("workers that live on lose their probes too")
def lasting_workers(case):
    job, _ = case.training("--workers", 2, "--samples", 1000000)
    children = process.children(job.pid)
    assert len(children) == 2, children
    snapshots = [process.Snapshot(pid, passing=("/dev/shm/", "socket:"))
                 for pid in [job.pid, *children]]
    tool = case.tool("-p", job.pid, "--record", "2:6", "--detail", "inner", "--no-trace").done()
    assert row(tool.report(), "summary")["steps"] == 4
    for snapshot in snapshots:
        snapshot.check()


@test("target is stopped in the window; --duration ends")
def stopped(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--duration", "2s", "--no-trace").wait_recording()
    job.signal(signal.SIGSTOP)
    begin = time.monotonic()
    tool.done(30)
    assert time.monotonic() - begin < 15, "detaching waited for the target"
    assert process.state(job.pid) == "T", "proftrace let the target run"
    assert not process.changed_text(job.pid)
    job.signal(signal.SIGCONT)
    job.wait_steps(5)
    before.check()


@test("target is stopped in the window; Ctrl-C ends")
def stopped_interrupt(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--detail", "inner", "--no-trace").wait_recording()
    job.wait_steps(5)
    job.signal(signal.SIGSTOP)
    time.sleep(0.3)
    tool.interrupt().done(30)
    assert row(tool.report(), "summary")["steps"] >= 2
    assert process.state(job.pid) == "T"
    assert not process.changed_text(job.pid)
    job.signal(signal.SIGCONT)
    job.wait_steps(5)
    before.check()


@test("target is stopped before proftrace attaches")
def stopped_before(case):
    job, before = case.training()
    job.signal(signal.SIGSTOP)
    tool = case.tool("-p", job.pid, "--record", "0:2", "--step-timeout", "1s")
    tool.fails("capture.steps-process-idle", 1, job.pid, timeout_s=30)
    assert tool.said("capture.target-stopped", job.pid), tool.err
    assert not process.changed_text(job.pid)
    job.signal(signal.SIGCONT)
    job.wait_steps(5)
    before.check()
