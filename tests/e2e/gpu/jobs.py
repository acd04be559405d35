# SPDX-License-Identifier: BSD-2-Clause
"""Jobs that train already, on a real GPU: what each step gives the device is what torch.profiler counts,
nothing is lost, and the job is none the wiser, whatever happens. usage: jobs.py [TITLE]; $GPU_PYTHON
has a torch that sees a GPU (on the simulated one tests/e2e/late asks more)."""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent)]

from lib import process, runner  # noqa: E402
from lib.runner import Skip, test  # noqa: E402
from lib.tool import row  # noqa: E402

WORKLOAD = HERE.parents[1] / "workloads/gpu_jobs.py"
PROGRAMS = pathlib.Path(os.environ["PROFTRACE"]).parent
TOOLKIT = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
LONG_S = 120
STEPS = 8


class GpuJob:
    count = 0

    def __init__(self, case, *command, **settings):
        GpuJob.count += 1
        self.dir = case.dir / f"job{GpuJob.count}"
        self.dir.mkdir()
        env = dict(os.environ, OMP_NUM_THREADS="1", CUBLAS_WORKSPACE_CONFIG=":4096:8", **settings)
        with open(self.dir / "out", "w") as out, open(self.dir / "err", "w") as err:
            self.popen = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                          cwd=self.dir)
        case.finally_(self.kill)
        self.wait_for(lambda: "ready" in self.out(), "the job to be ready")
        self.pid = int(re.search(r"ready (\d+)", self.out())[1])

    @classmethod
    def training(cls, case, kind):
        return cls(case, os.environ["GPU_PYTHON"], WORKLOAD, kind)

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def out(self):
        return (self.dir / "out").read_text()

    def losses(self):
        return [line.split()[1] for line in (self.dir / "steps").read_text().splitlines() if line.count(" ") == 2]

    def wait_for(self, condition, what):
        process.wait_for(lambda: condition() or self.popen.poll() is not None, LONG_S, what)
        assert self.popen.poll() is None, f"the job ended with {self.popen.poll()}: {(self.dir / 'err').read_text()}"

    def wait_steps(self, more):
        want = len(self.losses()) + more
        self.wait_for(lambda: len(self.losses()) >= want, f"{more} more steps")

    def wait_left(self):
        self.wait_for(lambda: not process.is_served(self.pid), "the library to leave")

    def end(self):
        """Compares in order. Each step's activities by name must be as torch.profiler counts them."""
        self.popen.send_signal(signal.SIGTERM)
        assert self.popen.wait(LONG_S) == 0, (self.dir / "err").read_text()
        theirs = json.loads((self.dir / "theirs.json").read_text())
        return {name: cnt / theirs["steps"] for name, cnt in theirs["activities"].items()}


def record(case, job, *options):
    tool = case.tool("-p", job.pid, "--no-trace", "--no-progress",
                     *(options or ("--record", f"2:{2 + STEPS}"))).done(LONG_S)
    job.wait_left()
    return tool


def whole(tool):
    """Kernels, copies and sets of a step by name, of a recording that lost nothing."""
    tables = tool.report("--table", "summary,kernel,manipulation,cost")
    assert row(tables, "cost")["events_lost"] == 0, tables["cost"]
    notes = " ".join(tables["cost"]["notes"])
    assert "no device times" not in notes and "no launch" not in notes, notes
    steps = row(tables, "summary")["steps"]
    found = collections.Counter()
    for table in "kernel", "manipulation":
        for r in tables[table]["rows"]:
            found[r["name"]] += r["calls"]
    return {name: cnt / steps for name, cnt in found.items()}


def same_losses(job, other):
    a, b = job.losses(), other.losses()
    cnt = min(len(a), len(b))
    assert cnt > 20 and a[:cnt] == b[:cnt], next(i for i in range(cnt) if a[i] != b[i])


def as_profiled(kind):
    @test(f"{kind}: a step's kernels, copies and sets are torch.profiler's")
    def compare(case):
        job = GpuJob.training(case, kind)
        ours, theirs = whole(record(case, job)), job.end()
        # The loss is copied back in the job's own loop, outside torch.profiler's measurement.
        ours.pop("Memcpy DtoH (Device -> Pinned)", None)
        theirs.pop("Memcpy DtoH (Device -> Pinned)", None)
        assert ours == theirs and ours, {n: (ours.get(n), theirs.get(n)) for n in {*ours, *theirs}
                                         if ours.get(n) != theirs.get(n)}


for name in "mlp", "graph", "cnn", "loader", "streams", "compile", "transformer", "amp":
    as_profiled(name)


@test("ten recordings in a row: each is whole, and the job's losses are those of one alone")
def ten(case):
    job, other = GpuJob.training(case, "cnn"), GpuJob.training(case, "cnn")
    found = [whole(record(case, job)) for _ in range(10)]
    assert all(f == found[0] for f in found), found
    same_losses(job, other)
    job.end()


@test("ten recordings of a job of CUDA graphs, one after the other: it goes on with the same losses")
def graphs(case):
    job, other = GpuJob.training(case, "graph"), GpuJob.training(case, "graph")
    for _ in range(10):
        assert whole(record(case, job, "--duration", "100ms"))
        job.wait_steps(20)
    same_losses(job, other)
    job.end()


@test("proftrace killed, at six moments: the job goes on, and the next recording is whole")
def killed(case):
    job, other = GpuJob.training(case, "cnn"), GpuJob.training(case, "cnn")
    for delay_s in 0.05, 0.2, 0.5, 1, 2, 4:
        tool = case.tool("-p", job.pid, "--duration", "100s", "--no-trace", "--no-progress")
        time.sleep(delay_s)
        tool.signal(signal.SIGKILL)
        job.wait_steps(5)
        job.wait_left()
    assert whole(record(case, job))
    same_losses(job, other)
    job.end()


def in_window(case):
    job = GpuJob.training(case, "cnn")
    tool = case.tool("-p", job.pid, "--duration", "100s", "--no-trace", "--no-progress").wait_recording(LONG_S)
    job.wait_steps(100)
    return job, tool


@test("the job ends in the window, as it would alone")
def ends(case):
    job, tool = in_window(case)
    job.end()
    assert tool.done(LONG_S).said("cli.target-ended-in-window"), tool.err


@test("the job aborts in the window, with its own status")
def aborts(case):
    job, tool = in_window(case)
    job.popen.send_signal(signal.SIGUSR2)
    assert job.popen.wait(LONG_S) == -signal.SIGABRT
    assert tool.done(LONG_S).said("cli.target-ended-in-window"), tool.err


@test("torch.profiler begins in the window: it is told of all, and device times end there")
def profiler(case):
    job, tool = in_window(case)
    job.popen.send_signal(signal.SIGUSR1)
    job.wait_for(lambda: "profiled" in job.out(), "torch.profiler's ten steps")
    process.wait_for(lambda: tool.said("capture.device-times-end"), LONG_S, "proftrace to notice")
    tool.interrupt().done(LONG_S)
    within = json.loads((job.dir / "theirs.json").read_text())
    alone = job.end()
    assert {n: c / within["steps"] for n, c in within["activities"].items()} == alone


def cuda_libraries():
    """Returns where the program's libraries are: in a CUDA toolkit, or in the wheels beside PyTorch."""
    torch = subprocess.run([os.environ["GPU_PYTHON"], "-c", "import torch; print(torch.__path__[0])"],
                           stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    for root, pattern in ((pathlib.Path(torch).parent, "nvidia/*/lib"), (TOOLKIT, "lib64"),
                          (TOOLKIT, "extras/CUPTI/lib64")):
        for folder in sorted(root.glob(pattern)):
            if list(folder.glob("libcudart.so.13")) or list(folder.glob("libcupti.so.13")):
                yield str(folder)


def tool_that_records(case, program):
    """tests/e2e/late/subscribes.c, which records activities already."""
    folders = ":".join(cuda_libraries())
    if not folders:
        raise Skip("no libraries of CUDA 13, with which this program is linked")
    job = GpuJob(case, PROGRAMS / program, LD_LIBRARY_PATH=folders)
    job.popen.send_signal(signal.SIGUSR2)
    job.wait_for(lambda: "records 0" in job.out(), "the tool to record")
    return job


def left_alone(what, program):
    @test(f"a tool {what} that records without a subscription: device times are its own")
    def leave(case):
        job = tool_that_records(case, program)
        for _ in range(2):
            notes = " ".join(record(case, job, "--duration", "2s").report("--table", "cost")["cost"]["notes"])
            assert "another tool uses CUPTI in it" in notes, notes
        job.popen.send_signal(signal.SIGTERM)
        assert job.popen.wait(LONG_S) == 0, (job.dir / "err").read_text()
        recorded, sets = map(int, re.search(r"recorded (\d+) of (\d+)", job.out()).groups())
        assert recorded >= sets > 100, (recorded, sets)


left_alone("built with stubs", "subscribes")
left_alone("built without them", "subscribes-no-plt")


sys.exit(runner.main(sys.argv[1:]))
