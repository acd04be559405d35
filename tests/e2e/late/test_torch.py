# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch's CUDA build, unmodified, that trains already."""
import pathlib
import re
import signal
import time

from gpu import DEVICE, LONG_S, PYTHON, ROOT, GpuJob, compare, doctor, dumped, notes, record
from lib import process
from lib.runner import test
from lib.tool import STOPPED, row

JOB = pathlib.Path(__file__).with_name("job.py")
TWO_DEVICES = ROOT / "tests/workloads/two_devices.py"


def steps(job):
    """Returns each step's results from the device."""
    return re.findall(r"^step \d+ \S+$", job.out(), re.MULTILINE)


def end(job):
    """Checks the order, and that CUPTI was used according to its documentation."""
    job.popen.send_signal(signal.SIGTERM)
    assert job.popen.wait(LONG_S) == 0, job.err()
    assert not [r[-1] for r in job.truth() if r[0] == "misuse"]


def train(case):
    return GpuJob(case, JOB, python=PYTHON)


def profile(job):
    """Starts the job's own torch.profiler."""
    job.popen.send_signal(signal.SIGUSR1)
    process.wait_for(lambda: "profiling since" in job.out(), LONG_S, "torch.profiler")
    step = len(steps(job))
    process.wait_for(lambda: len(steps(job)) > step + 5, LONG_S, "some steps with it")


def check_profiled(job):
    """The profiler must have reported the activities of all those steps."""
    since = int(job.out().split("profiling since")[1].split()[0])
    profiled, whole = int(job.out().split("profiled")[1]), len(steps(job)) - 1 - since
    per_step = sum(r[0] in DEVICE for r in job.truth()) / len(steps(job))
    assert profiled >= whole * per_step * 0.9, (profiled, whole, per_step)


def kind_calls(job):
    """Lists the calls that enable or disable a kind of activity in order: by our library's thread or not, which call,
    and which kind."""
    rows = [r for r in job.truth() if r[0] == "cupti"]
    library = next(r[7] for r in rows if r[-1].startswith("cuptiSubscribe"))
    return [(r[7] == library, *r[-1].split()[:2]) for r in rows
            if r[-1].startswith(("cuptiActivityEnable ", "cuptiActivityDisable "))]


def check_kept(job):
    """Our library must not disable what torch.profiler has enabled."""
    theirs = set()
    for mine, call, kind in kind_calls(job):
        if not mine and call == "cuptiActivityEnable":
            theirs.add(kind)
        assert not (mine and call == "cuptiActivityDisable" and kind in theirs), kind
    assert len(theirs) > 4, theirs


def check_left(job):
    """Nothing that our library enabled was on when torch.profiler came."""
    on = set()
    for mine, call, kind in kind_calls(job):
        if call == "cuptiActivityDisable":
            on.discard(kind)
        elif mine:
            on.add(kind)
        else:
            assert not on, on
            return
    raise AssertionError("torch.profiler did not come")


def event_waits(job):
    """In what was last compared, by correlation id: the thread's calls that wait for an event, and what
    CUPTI tells of such waits, which it tells of questions as well."""
    rows = [line.split("\t") for line in (job.dir / "dump").read_text().splitlines()]
    calls = {r[5] for r in rows if r[0] == "runtime" and r[-1] == "cudaEventSynchronize"}
    return calls, {r[5] for r in rows if r[0] == "sync" and r[-1] == "Event Sync"}


@test("PyTorch that trains already: its kernels, three times, with and without waits, and the same results")
def training(case):
    job, plain = train(case), train(case)
    assert "it has a libcupti of its own" in doctor(job.pid)
    for i, options in enumerate([[], ["--sync-events"], []]):
        tool = case.tool("-p", job.pid, "--record", "0:8", "--no-trace", "--no-progress", *options)
        tool.done(LONG_S)
        assert tool.said("capture.library-found-again" if i else "capture.library-loaded"), tool.err
        kernels, copies, _ = compare(job, tool.recordings()[0])
        assert kernels >= 8 * 20 and copies >= 8 * 3, (kernels, copies)
        calls, waits = event_waits(job)
        assert len(calls) >= 8 and waits <= calls, (calls, waits)
        assert len(waits) >= 7 if options else not waits, (options, waits)
        tables = tool.report()
        assert row(tables, "summary")["steps"] == 8
        assert row(tables, "cost")["events_lost"] == 0
        assert "no device times" not in notes(tool) and "no launch" not in notes(tool), notes(tool)
        asked = re.search(r"it takes of \d+ questions whether the device is done", notes(tool))
        assert bool(asked) == bool(options), notes(tool)
        job.wait_parked()
    end(job)
    end(plain)
    cnt = min(len(steps(job)), len(steps(plain)))
    assert cnt > 8 and steps(job)[:cnt] == steps(plain)[:cnt]


@test("windows a few steps apart, and proftrace that is kept waiting: each has its device's events")
def kept_waiting(case):
    job = train(case)
    tool = case.tool("-p", job.pid, "--schedule", "closed=1,ready=1,record=4,repeat=6", "--no-trace",
                     "--no-progress").wait_recording(LONG_S)
    while tool.popen.poll() is None:
        tool.signal(signal.SIGSTOP)
        time.sleep(0.25)
        tool.signal(signal.SIGCONT)
        time.sleep(0.1)
    tool.done(LONG_S)
    assert len(tool.recordings()) == 6, tool.recordings()
    for recording in tool.recordings():
        kernels, copies, _ = compare(job, recording)
        assert kernels >= 4 * 20 and copies >= 4 * 2, (recording.name, kernels, copies)
    end(job)


@test("launches of a thread that has no spans, in a window of seconds: each kernel of a step has its own")
def without_spans(case):
    job = train(case)
    tool = case.tool("-p", job.pid, "--detail", "phase", "--sync-events", "--duration", "4s", "--no-trace",
                     "--no-progress")
    tool.done(LONG_S)
    compare(job, tool.recordings()[0])
    calls, waits = event_waits(job)
    assert len(calls) > 10 and waits <= calls and len(waits) >= len(calls) - 1, (calls, waits)
    tables = tool.report("--table", "summary,overview")
    overview = {r["event_type"]: r["calls"] for r in tables["overview"]["rows"]}
    assert row(tables, "summary")["steps"] > 10
    assert overview["Runtime"] >= overview["Kernel"] > 0, overview
    assert "no launch" not in notes(tool), notes(tool)
    end(job)


@test("more threads than are followed at a time: what is lost is counted, and why is said")
def many_threads(case):
    job = GpuJob(case, JOB.with_name("short_threads.py"), 80, python=PYTHON)
    tool = record(case, job).done(LONG_S)
    lost = row(tool.report(), "cost")["events_lost"]
    assert lost > 0
    said = f"lost: {lost} of the device's events were calls of threads beyond the 64 that are followed at a time"
    assert said in notes(tool), notes(tool)
    end(job)


@test("what was lost before the window opened is not counted in it", alone=True)
def lost_before(case):
    job = GpuJob(case, JOB.with_name("short_threads.py"), 80, 1, python=PYTHON, SIMGPU_TRUTH_API="0")
    tool = case.tool("-p", job.pid, "--step-probe", "aten::argmax", "--record", "3:8", "--no-trace",
                     "--no-progress")
    process.wait_for(job.holds_cupti, LONG_S, "the library, some steps before the window")
    job.popen.send_signal(signal.SIGUSR1)
    tool.done(LONG_S)
    tables = tool.report()
    assert row(tables, "cost")["events_lost"] == 0, tables["cost"]
    assert row(tables, "summary")["steps"] == 5 and tables["kernel"]["rows"]


@test("a thread for each request: each kernel has its call, of however many threads")
def thread_per_request(case):
    job = GpuJob(case, JOB.with_name("short_threads.py"), python=PYTHON)
    tool = case.tool("-p", job.pid, "--duration", "6s", "--step-timeout", "200ms", "--no-trace", "--no-progress")
    tool.done(LONG_S)
    compare(job, tool.recordings()[0])
    threads = {r[7] for r in job.truth() if r[0] == "kernel"}
    assert len(threads) > 150, len(threads)
    assert row(tool.report(), "cost")["events_lost"] == 0, tool.report()["cost"]
    end(job)


def covered(tool):
    """The steps of the window whose device times are known, the first after them, the end."""
    foot = re.search(r"device times until step (\d+) of \[(\d+),(\d+)\): another tool began",
                     notes(tool))
    assert foot, notes(tool)
    return [int(foot[i]) for i in (2, 1, 3)]


def check_known(job, tool):
    """Nothing is missing up to the last activity that was reported."""
    dump = [line.split("\t") for line in dumped(job, tool.recordings()[0]).read_text().splitlines()]
    begin = next(int(r[1]) for r in dump if r[0] == "window")
    told = [int(r[4]) for r in dump if r[0] in DEVICE]
    true = [int(r[5]) for r in job.truth() if r[0] in DEVICE and int(r[3]) > begin]
    assert sum(end <= max(told) for end in true) <= len(told), "some are missing"


def check_silent(tool):
    """No finding may judge by the known part of the device's work. The tables say where that part ends."""
    tables = tool.report("--table", "findings,device,overview,model,operator,kernel,manipulation")
    rules = {r["rule"] for r in tables["findings"]["rows"]}
    assert not rules & {"device_idle", "launch_bound", "gpu_bound", "synchronization", "small_copies", "copy_bandwidth",
                        "exposed_copies", "device_allocation", "off_cpu"}, rules
    said = f"device times end at step {covered(tool)[1]}: another tool began"
    for table in "findings", "device", "overview", "model", "operator", "kernel", "manipulation":
        assert said in " ".join(tables[table]["notes"]), (table, tables[table]["notes"])


@test("torch.profiler that is on: it keeps its records, ours go on without")
def during_torch_profiler(case):
    job = train(case)
    profile(job)
    tool = case.tool("-p", job.pid, "--record", "0:2", "--no-trace", "--no-progress").done(LONG_S)
    assert "another tool uses CUPTI in it" in notes(tool), notes(tool)
    end(job)
    check_profiled(job)


@test("torch.profiler after us: CUPTI is as if we had not been there")
def before_torch_profiler(case):
    job = train(case)
    tool = case.tool("-p", job.pid, "--record", "0:2", "--no-trace", "--no-progress").done(LONG_S)
    assert compare(job, tool.recordings()[0])[0]
    job.wait_parked()
    profile(job)
    end(job)
    check_profiled(job)


def recorded(case):
    """A job, and proftrace, whose window has been open for some steps."""
    job = train(case)
    tool = case.tool("-p", job.pid, "--duration", "100s", "--no-trace", "--no-progress")
    tool.wait_recording(LONG_S)
    seen = len(steps(job))
    process.wait_for(lambda: len(steps(job)) > seen + 40, LONG_S, "steps in the window")
    return job, tool


@test("torch.profiler that begins in our window: CUPTI is left to it")
def within_window(case):
    job, tool = recorded(case)
    profile(job)
    process.wait_for(lambda: tool.said("capture.device-times-end"), LONG_S, "proftrace to notice")
    tool.interrupt().done(LONG_S)
    assert "another tool began to use CUPTI" in notes(tool), notes(tool)
    assert compare(job, tool.recordings()[0], may_miss=1_000_000)[0]
    first, until, end_step = covered(tool)
    assert first + 5 < until < end_step, (first, until, end_step)
    check_known(job, tool)
    check_silent(tool)
    assert not job.calls("cuptiFinalize")
    process.wait_for(lambda: not job.is_served(), LONG_S, "the library to leave")
    end(job)
    check_profiled(job)
    check_kept(job)
    check_left(job)


@test("torch.profiler that begins while proftrace stands still: the library has left by itself")
def unnoticed(case):
    job, tool = recorded(case)
    # The library waits five seconds for it.
    tool.popen.send_signal(signal.SIGSTOP)
    job.popen.send_signal(signal.SIGUSR1)
    process.wait_for(lambda: "profiling since" in job.out(), LONG_S, "torch.profiler")
    tool.popen.send_signal(signal.SIGCONT)
    process.wait_for(lambda: tool.said("capture.device-times-end"), LONG_S, "proftrace to notice")
    tool.interrupt().done(LONG_S)
    end(job)
    check_profiled(job)
    check_kept(job)
    check_left(job)


@test("far from its window proftrace holds nothing of CUPTI")
def far(case):
    job = train(case)
    tool = case.tool("-p", job.pid, "--record", "100000:100001", "--no-progress")
    process.wait_for(lambda: job.calls("cuptiSubscribe") and not job.holds_cupti(), LONG_S,
                     "CUPTI's start, to see whether it works, and end")
    calls, before = job.cupti_calls(), len(steps(job))
    process.wait_for(lambda: len(steps(job)) > before + 30, LONG_S, "steps far from the window")
    assert job.is_served() and not job.holds_cupti()
    assert job.cupti_calls() == calls
    tool.interrupt().fails(STOPPED)
    job.wait_parked()
    end(job)


@test("--no-inject: a call that returned while its probe was taken out does not last for ever; those left out are told")
def call_left_out(case):
    job = GpuJob(case, JOB.with_name("waiting_threads.py"), python=PYTHON, SIMGPU_TRUTH_API="0")
    left_out = 0
    for _ in range(2):
        tool = record(case, job, "--no-inject", "--step-timeout", "20s", "--duration", "500ms").done(LONG_S)
        tables = tool.report("--table", "calls,operator")
        calls = tables["calls"]["rows"]
        assert max(r["cpu_max_ns"] or 0 for r in calls) < 400e6, calls
        estimated = [r for r in calls if r["estimated"]]
        left_out += len(estimated)
        assert all(r["calls"] > 20 and r["cpu_max_ns"] is None
                   for r in estimated), estimated
        assert not any("cuda" in r["name"] for r in tables["operator"]["rows"]), tables["operator"]["rows"]
    assert left_out
    end(job)


@test("two devices in one process: the last node of a device's thread ends when the thread falls asleep, not with the pass")
def two_devices(case):
    job = GpuJob(case, TWO_DEVICES, python=PYTHON, SIMGPU_DEVICES="2")
    process.wait_for(lambda: len(steps(job)) > 5, LONG_S, "steps")
    tool = case.tool("-p", job.pid, "--record", "2:22", "--no-trace", "--no-progress").done(LONG_S)
    rows = {r["name"].split(": ")[-1]: r for r in tool.report("--table", "operator")["operator"]["rows"]}
    assert rows["SlowBackward"]["calls"] == 20 and rows["SlowBackward"]["cpu_min_ns"] > 50e6, rows["SlowBackward"]
    # On a busy machine the thread may be kept from falling asleep; without the scheduler all take 50 ms.
    last = rows["ToCopyBackward0"]
    assert last["calls"] == 20 and last["cpu_total_ns"] < 20 * 25e6, last
    assert last["cpu_min_ns"] < 10e6, last
    end(job)
