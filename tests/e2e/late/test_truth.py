# SPDX-License-Identifier: BSD-2-Clause
"""A recording of a job that already runs must show what the job's device did."""
import json
import os
import pathlib
import signal
import time

from gpu import BUILD, LONG_S, PYTHON, SIM, TRAIN, GpuJob, check_recorded, compare, doctor, dumped, notes, record
from lib import process
from lib.ctl import obeyed, wait_state
from lib.runner import test
from lib.tool import row

STOPPED_NS = 20_000_000
FUTEX = 202  # the system call's number
CUT_END = "2"  # of a call's flags


@test("a job that runs already: every kernel, copy and set, to the ns")
def late(case):
    job = GpuJob(case, SIM / "client/train", 0, 3000, 2, 3, SIMGPU_DEVICES="2")
    before = process.Snapshot(job.pid)
    assert "our library will be loaded into it" in doctor(job.pid)
    device = json.loads(doctor(job.pid, "--format", "json"))["device"]
    assert device == {"uses_cuda": True, "cupti": True, "library_loaded": False, "cuda": 13,
                      "libcupti_loaded": False, "libcupti": str(SIM / "lib/libcupti.so.13")}, device
    before.check()
    tool = check_recorded(case, job, "--duration", "1s")
    assert tool.said("capture.library-loaded"), tool.err
    assert row(tool.report(), "cost")["stopped_ns"] > 0
    assert row(tool.report(), "cost")["events_lost"] == 0
    assert "in it already" in doctor(job.pid)
    job.end()


@test("ten times into one process: nothing grows")
def ten_times(case):
    job = GpuJob(case)
    threads, fds = process.threads(job.pid), process.descriptors(job.pid)
    stops, maps = [], None
    for i in range(10):
        tool = check_recorded(case, job)
        assert tool.said("capture.library-found-again" if i else "capture.library-loaded"), tool.err
        stops.append(row(tool.report(), "cost")["stopped_ns"])
        process.wait_for(lambda: process.threads(job.pid) == threads, 60, "the threads of before")
        assert process.descriptors(job.pid) == fds
        now = process.lasting_maps(job.pid)
        assert maps in (None, now), set(now) ^ set(maps)
        maps = now
    print("stopped for", ", ".join(f"{ns / 1e6:.2f}" for ns in stops), "ms")
    assert min(stops) <= STOPPED_NS, stops
    assert job.calls("cuptiFinalize") == 10
    job.end()


@test("four times into a process with CUDA graphs: CUPTI stays, which they need, and grows no more")
def four_times_with_graphs(case):
    job = GpuJob(case, TRAIN, 0, 3000, 1, 2, 1)
    before, fds = process.threads(job.pid), process.descriptors(job.pid)
    threads = maps = None
    for _ in range(4):
        tool = check_recorded(case, job)
        assert "CUPTI stays in the process, with nothing enabled: the process uses CUDA graphs" in notes(tool)
        job.wait_parked()
        now = process.threads(job.pid), process.lasting_maps(job.pid)
        threads, maps = threads or now[0], maps or now[1]
        assert now == (threads, maps), (now, threads, maps)
    assert set(threads) > set(before) and process.descriptors(job.pid) == fds
    assert not job.calls("cuptiFinalize")
    job.wait_progress()
    job.end()


@test("a job that captures graphs without end: its captures are left alone, five times")
def captures_go_on(case):
    program = pathlib.Path(__file__).with_name("captures.py")
    job = GpuJob(case, program, 0.05, python=PYTHON)
    for _ in range(5):
        record(case, job).done(LONG_S)
        job.wait_parked()
        job.wait_progress()
    job.popen.send_signal(signal.SIGTERM)
    assert job.popen.wait(LONG_S) == -signal.SIGTERM, job.err()


@test("ctl without steps: CUPTI is there in the windows alone, each has what the device did in it")
def controlled(case):
    job = GpuJob(case)
    tool = record(case, job, "--paused")
    for written in (1, 2):
        wait_state(job, "state: paused")
        process.wait_for(lambda: not job.holds_cupti(), LONG_S, "CUPTI to be left")
        obeyed(job, "start")
        wait_state(job, "state: recording")
        time.sleep(0.5)
        obeyed(job, "pause")
        wait_state(job, f"recordings written: {written}", "current recording: -")
        process.wait_for(lambda: not job.holds_cupti(), LONG_S, "CUPTI to be left")
    obeyed(job, "start")
    wait_state(job, "state: recording")
    time.sleep(0.5)
    obeyed(job, "dump")
    wait_state(job, "recordings written: 3", "state: recording")
    time.sleep(0.5)
    obeyed(job, "stop")
    tool.done(LONG_S)
    assert len(tool.recordings()) == 4, tool.recordings()
    for path in tool.recordings():
        assert all(compare(job, path)), f"{path}: a window without kernels, copies or sets"
    job.wait_parked()
    job.end()


@test("an unprivileged job in a mount namespace of its own, without /dev/shm")
def contained(case):
    case.dir.chmod(0o777)
    sim = case.dir / "sim"  # the tree may lie in a home directory that others cannot enter
    sim.mkdir()
    job = GpuJob(case, sim / "client/train", 0, 3000, 1, 2,
                 wrap=("unshare", "--mount", "--propagation", "private", "sh", "-c",
                       f"mount --bind {SIM} {sim} && mount -t tmpfs -o size=4k none /dev/shm && "
                       'exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"', "sh"))
    check_recorded(case, job)
    job.end()


@test("a job in a pid namespace of its own: calls are on its threads as seen from here")
def numbered_anew(case):
    job = GpuJob(case, wrap=("unshare", "--pid", "--fork", "--mount-proc"))
    tool = record(case, job).done()
    rows = [line.split("\t") for line in dumped(job, tool.recordings()[0]).read_text().splitlines()]
    assert {r[2] for r in rows if r[0] == "runtime"} == {str(job.pid)}
    assert any(r[0] == "kernel" for r in rows)
    job.wait_parked()
    os.kill(job.pid, signal.SIGTERM)
    assert job.popen.wait(60) == 0


@test("records that CUPTI dropped are counted and printed")
def dropped(case):
    job = GpuJob(case, SIMGPU_CUPTI_DROP="50")
    tool = record(case, job).done()
    compare(job, tool.recordings()[0], may_miss=1_000_000)
    lost = row(tool.report(), "cost")["events_lost"]
    assert lost > 0
    assert f"lost: {lost} of the device's events were dropped by CUPTI" in notes(tool), notes(tool)
    job.wait_parked()
    job.end()


@test("a device clock that is seconds off: its records are counted as lost")
def wrong_clock(case):
    for offset_ns in (-5000000000, 5000000000):
        job = GpuJob(case, SIMGPU_CUPTI_OFFSET_NS=str(offset_ns))
        tool = case.tool("-p", job.pid, "--duration", "1s", "--no-trace").done(LONG_S)
        cost = row(tool.report(), "cost")
        assert cost["events_lost"] > 0, (offset_ns, cost)
        job.end()


@test("CUDA graphs before 12.6: CUPTI is not finalized, and leaves all the same")
def old_with_graphs(case):
    job = GpuJob(case, TRAIN, 0, 3000, 1, 2, 1, SIMGPU_CUPTI_VERSION="20")
    for _ in range(2):
        check_recorded(case, job)
    assert not job.calls("cuptiFinalize")
    job.end()


def check_unreturned(case, version):
    rules = case.dir / "rules"
    rules.write_text("lasting ns=8000000000\n")
    job = GpuJob(case, BUILD / "calls", "block", SIMGPU_RULES=str(rules), SIMGPU_CUPTI_VERSION=version)
    tool = record(case, job, "--duration", "600s").wait_recording()
    (job.dir / "go").touch()
    process.wait_for(lambda: "blocking" in job.out() and process.system_call(job.pid) == FUTEX, 60,
                     "the job to wait for its device")
    tool.interrupt().done()
    rows = [line.split("\t") for line in dumped(job, tool.recordings()[0]).read_text().splitlines()]
    calls = {r[7]: r for r in rows if r[0] == "runtime" and r[6] == CUT_END}
    assert list(calls) == ["cudaStreamSynchronize"], calls
    window, = (r for r in rows if r[0] == "window")
    assert calls["cudaStreamSynchronize"][4] == window[2], (calls, window)
    assert job.popen.wait(LONG_S) == 0, job.err()


@test("a call that has not returned when CUPTI is left: told, and cut at the end")
def unreturned(case):
    check_unreturned(case, "130000")


@test("the same before 12.6")
def unreturned_old(case):
    check_unreturned(case, "20")


@test("a job that comes to use CUDA only after the attach")
def before_cuda(case):
    job = GpuJob(case, "sh", "-c", 'echo ready $$; while ! [ -e go ]; do sleep 0.1; done; '
                                   f"exec {SIM}/client/train 0 3000 1 2")
    tool = record(case, job, "--duration", "300ms").done()
    assert not job.has_library() and "device" not in notes(tool)
    (job.dir / "go").touch()
    process.wait_for(lambda: job.out().count("ready") == 2, 60, "the device's use")
    check_recorded(case, job)
    job.end()


@test("--no-inject leaves the process without the library")
def no_inject(case):
    job = GpuJob(case)
    before = process.Snapshot(job.pid)
    tool = record(case, job, "--no-inject", "--duration", "300ms").done()
    assert "stopped_ns" not in row(tool.report(), "cost")
    before.check()
    job.end()


@test("run: the program's children do not take its place")
def children(case):
    env = dict(os.environ, SIMGPU_TRUTH=str(case.dir / "truth"))
    tool = case.tool("run", "--duration", "300ms", "--step-timeout", "200ms", "--no-trace",
                     "--", "sh", "-c", f"{SIM}/client/train 100 3000 1 1; exit 0", env=env).done()
    assert "device" not in notes(tool)
    assert "kernels 600 copies 200 sets 100" in tool.out, tool.out
    assert not any(log.read_text().count("\ntool\t") for log in case.dir.glob("truth.*"))


@test("run: a program that drops the variable which names the library")
def without_variable(case):
    env = dict(os.environ, SIMGPU_TRUTH=str(case.dir / "truth"))
    tool = case.tool("run", "--duration", "300ms", "--step-timeout", "200ms", "--no-trace",
                     "--", "env", "-u", "CUDA_INJECTION64_PATH", SIM / "client/train", 0, 3000,
                     env=env)
    process.wait_for(lambda: tool.said("cli.recording-written"), 60, "the recording")
    os.kill(int(tool.out.split()[1]), signal.SIGTERM)
    tool.done()
    assert tool.said("capture.library-loaded"), tool.err
    assert any(r["event_type"].strip() == "Kernel" for r in tool.report()["overview"]["rows"])
