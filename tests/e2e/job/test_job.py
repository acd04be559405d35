# SPDX-License-Identifier: BSD-2-Clause
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from lib import process
from lib.job import ENV, PYTHON, ROOT, WORKLOADS
from lib.runner import test
from lib.tool import PROFTRACE, events

RANKS = 3
BUILD = pathlib.Path(PROFTRACE).resolve().parent
SIMGPU_PYTHON = BUILD / "simgpu/13/venv/bin/python"


class Launched:
    """torchrun with some ranks of a workload."""

    def __init__(self, case, *args, wrap=(), python=PYTHON, script="ddp.py", ranks=RANKS,
                 restarts=0, env=()):
        self.script, self.ranks = script, ranks
        self.log = case.dir / "ddp.log"
        self.out = case.dir / "ddp.out"
        with open(self.out, "w") as out:
            self.popen = subprocess.Popen(
                [*wrap, python, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks),
                 "--standalone", "--max-restarts", str(restarts), str(WORKLOADS / script), "--steps-to",
                 str(self.log), *map(str, args)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env={**ENV, "SIMGPU_DEVICES": str(ranks), **dict(env)},
                start_new_session=True)
        case.finally_(self.stop)
        self.wait_steps(3)

    def steps(self, rank):
        log = self.log.with_name(f"{self.log.name}.{rank}")
        return len(log.read_text().splitlines()) if log.exists() else 0

    def wait_steps(self, cnt):
        before = [self.steps(rank) for rank in range(self.ranks)]
        process.wait_for(lambda: self.popen.poll() is not None or
                         all(self.steps(r) >= before[r] + cnt for r in range(self.ranks)),
                         120, "steps of all ranks")
        assert self.popen.poll() is None, f"the job ended: {self.out.read_text()}"

    def pids(self):
        """Returns the process ids by rank."""
        found = {}
        for pid in process.descendants(self.popen.pid):
            with open(f"/proc/{pid}/environ", "rb") as file:
                env = dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                args = file.read().split(b"\0")
            if b"RANK" in env and any(a.endswith(self.script.encode()) for a in args):
                found.setdefault(int(env[b"RANK"]), pid)  # a rank's workers come after it
        return [found[rank] for rank in range(self.ranks)]

    def stop(self):
        if self.popen.poll() is None:
            for pid in [*process.descendants(self.popen.pid), self.popen.pid]:
                os.kill(pid, signal.SIGKILL)
            self.popen.wait()


def is_first_ready(launcher, file):
    """It has a store, and the second has loaded the framework."""
    loaded = sum(any("libtorch_cpu" in m[4] for m in process.mappings(pid))
                 for pid in process.children(launcher))
    return loaded == 2 and os.path.exists(f"{file}.port")


def check_job(job, tables, steps):
    rows = tables["ranks"]["rows"]
    assert [(r["rank"], r["pid"], r["steps"]) for r in rows] == \
        [(rank, pid, steps) for rank, pid in enumerate(job.pids())], rows
    for r in rows:
        # Collectives of a device run beside the phases; the host waits for them in blocked calls.
        waits = "blocked_ns" if r.get("blocked_ns") else "collectives_ns"
        parts = sum(r[k] for k in ("dataloader_ns", "forward_ns", "backward_ns",
                                   "optimization_ns", "others_ns", waits))
        assert 0.97 < parts / r["step_ns"] < 1.03, r
        assert r["collectives_ns"] > 0 and r["forward_ns"] > 2e6, r
    notes = tables["ranks"]["notes"]
    assert not any("do not overlap" in n for n in notes), notes


def straggler(case, phase, row_key, label, *args, **kwargs):
    job = Launched(case, "--slow-rank", 1, "--slow-phase", phase, "--slow-ms", 60, *args, **kwargs)
    tool = case.tool("--job", job.popen.pid, "--record", "2:10", "--format", "json").done(120)
    tables = json.loads(tool.out)
    check_job(job, tables, 8)
    found = tables["straggler"]["rows"][0]
    assert found["straggler"] == 1 and found["phase"] == label, tool.out
    assert 40e6 < found["others_wait_ns"], tool.out
    assert found["own_ns"] - found["median_of_others_ns"] > 40e6, tool.out
    assert tables["ranks"]["rows"][1][row_key] > 55e6, tool.out
    first, = tables["findings"]["rows"]
    waiting = next(str(p) for p in tool.recordings() if f"_{job.pids()[0]}" in p.name)
    shown = json.loads(subprocess.run([PROFTRACE, "report", "--table", "findings", "--format", "json", waiting],
                                      text=True, capture_output=True, check=True).stdout)
    alone = {row["rule"]: row["cost_ns"] for row in shown["findings"]["rows"]}
    assert alone["exposed_communication"] > 30e6, alone
    assert first["rule"] == "straggler" and first["cost_ns"] == found["others_wait_ns"], first
    assert f"for rank 1, because of its {label}." in first["finding"], first
    assert f"its {label} takes" in first["evidence"], first
    job.wait_steps(3)
    for pid in job.pids():
        assert not process.changed_text(pid)
    return job, tool


@test("all ranks below torchrun: one is slow in its forward pass; report and tables of each later")
def forward(case):
    _, tool = straggler(case, "forward", "forward_ns", "Forward")
    files = [str(p) for p in tool.recordings()]
    assert len(files) == RANKS == len(list(tool.dir.glob("*.pt.trace.json.gz"))), files
    shown = subprocess.run([PROFTRACE, "report", *files], text=True, capture_output=True,
                           check=True).stdout
    assert "straggler: 1" in shown and "because of: Forward" in shown, shown
    assert shown.index("What to Look at First") < shown.index("rule: straggler") \
        < shown.index("Ranks"), shown
    one = subprocess.run([PROFTRACE, "report", "--format", "json", "--table", "operator,device",
                          *files], text=True, capture_output=True, check=True).stdout
    each = json.loads(one)["recordings"]
    assert [r["rank"] for r in each] == list(range(RANKS)), one
    for r in each:
        assert any(row["name"] == "aten::linear" for row in r["tables"]["operator"]["rows"]), r
        assert len(r["tables"]["device"]["rows"]) == 2, r


@test("two ranks, of which one is slow in its backward pass")
def backward(case):
    _, tool = straggler(case, "backward", "backward_ns", "Backward", ranks=2)
    first, = json.loads(tool.out)["findings"]["rows"]
    assert "its own report begins: The training thread" in first["evidence"], first
    assert "time.sleep" in first["next"], first


@test("a rank whose data is slow")
def loader(case):
    _, tool = straggler(case, "loader", "dataloader_ns", "Dataloader")
    first, = json.loads(tool.out)["findings"]["rows"]
    assert "num_workers" in first["next"], first
    assert "its own report begins: The step waits" in first["evidence"], first


@test("two ranks of the same speed: there is nothing to look at")
def none_is_slow(case):
    job = Launched(case, "--pace-ms", 100, ranks=2)
    tool = case.tool("--job", job.popen.pid, "--record", "2:12", "--format", "json").done(120)
    tables = json.loads(tool.out)
    check_job(job, tables, 10)
    assert not tables["findings"]["rows"], tool.out
    assert any("No rule found anything" in n for n in tables["findings"]["notes"]), tool.out


@test("ranks on simulated GPUs over NCCL: one is slow in its forward pass")
def nccl(case):
    subprocess.run(["make", "--no-print-directory", "-s", "-C", ROOT, f"BUILD={BUILD}",
                    "CUDA=13", f"SIMGPU_PYTHON={PYTHON}", "simgpu"], check=True)
    _, tool = straggler(case, "forward", "forward_ns", "Forward", "--cuda", python=SIMGPU_PYTHON)
    for r in json.loads(tool.out)["ranks"]["rows"]:
        assert 0 < r["compute_ns"] < r["step_ns"], r


@test("ranks of the same speed, below a shell, with data-loader workers; two of them, by -p")
def healthy(case):
    job = Launched(case, "--workers", 1, wrap=("bash", "-c", '"$@"; true', "bash"))
    tool = case.tool("--job", job.popen.pid, "--record", "2:8", "--format", "json").done(120)
    tables = json.loads(tool.out)
    check_job(job, tables, 6)
    begins = [next(e["ts_ns"] for e in events(path) if e.get("type") == "step")
              for path in tool.recordings()]
    apart = max(begins) - min(begins)
    assert len(begins) == RANKS and apart < 2 * max(r["step_ns"] for r in tables["ranks"]["rows"]), begins
    pids = job.pids()
    tool = case.tool("-p", f"{pids[2]},{pids[0]}", "--record", "2:6", "--no-trace").done(120)
    assert len(tool.recordings()) == 2 and "straggler:" in tool.out, tool.out
    written = [m.prefix for m in tool.messages() if m.key == "cli.recording-written"]
    assert f"rank 2 ({pids[2]}): " in written, tool.err


@test("Ctrl-C ends all windows; a rank that is gone does not keep the others waiting")
def ends(case):
    job = Launched(case, "--slow-rank", 0)
    pids = job.pids()
    tool = case.tool("-p", ",".join(map(str, pids)), "--duration", "100s", "--no-trace")
    process.wait_for(lambda: len(tool.recordings()) == RANKS, 60, "three windows")
    time.sleep(1)
    tool.interrupt().done(60)
    assert "Ranks" in tool.out and len(tool.recordings()) == RANKS, tool.out
    job.wait_steps(2)
    other = case.tool("-p", f"{pids[0]},{2 ** 22 + 1}", "--record", "0:2", "--no-trace")
    other.fails("target.process-missing", 2 ** 22 + 1, timeout_s=120)
    assert len(other.recordings()) == 1, other.err
    for pid in pids:
        assert not process.changed_text(pid)


@test("a rank dies and torchrun starts the job again: by whom the places were taken is said")
def restarted(case):
    job = Launched(case, ranks=2, restarts=1)
    pids = job.pids()
    tool = case.tool("--job", job.popen.pid, "--duration", "100s", "--no-trace")
    process.wait_for(lambda: len(tool.recordings()) == 2, 60, "the windows")
    os.kill(pids[1], signal.SIGKILL)
    tool.done(60)
    now = job.pids()
    assert not set(now) & set(pids), (now, pids)
    assert tool.said("cli.successors-started", f"{now[0]},{now[1]}"), tool.err


@test("ranks of mp.spawn that come up one after the other: the late one is waited for")
def late_rank(case):
    file = case.dir / "go"
    job = subprocess.Popen([PYTHON, "-B", WORKLOADS / "spawned_ranks.py", file], env=ENV,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    case.finally_(lambda: os.killpg(job.pid, signal.SIGKILL))
    process.wait_for(lambda: is_first_ready(job.pid, file), 120, "the first rank")
    tool = case.tool("--job", job.pid, "--record", "2:10", "--no-trace", "--format", "json")
    process.wait_for(lambda: tool.said("cli.job-ranks-awaited", 15), 60, "proftrace to wait")
    file.touch()
    tables = json.loads(tool.done(120).out)
    assert len(tool.recordings()) == 2 and not tool.said("cli.job-process-left-out"), tool.err
    assert [r["steps"] for r in tables["ranks"]["rows"]] == [8, 8], tables["ranks"]
    assert not re.search(r"[^\n]proftrace: ", tool.err), tool.err  # lines of both ranks, whole


@test("what cannot be: no ranks, a process twice, a file for several recordings")
def refused(case):
    sleeper = subprocess.Popen(["sleep", "100"])
    case.finally_(sleeper.kill)
    case.tool("--job", sleeper.pid, "--record", "0:2").fails("target.ranks-missing", sleeper.pid)
    case.tool("--job", 2 ** 22 + 1, "--record", "0:2").fails("target.process-missing", 2 ** 22 + 1)
    case.tool("-p", "1,1", "--record", "0:2").fails("cli.pid-given-twice", 1)
    case.tool("-p", 1, "--job", 1).fails("cli.pid-excludes-job")
    case.tool("-p", "1,2", "-o", "one.ptrec", "--record", "0:2").fails("cli.job-output-no-directory", "one.ptrec")


@test("a launcher by -p: that it mixes ranks is said; of a rank nothing")
def launcher(case):
    job = Launched(case, ranks=2)
    tool = case.tool("-p", job.popen.pid, "--duration", "1s", "--no-trace").done(120)
    assert tool.said("cli.pid-is-launcher", job.popen.pid, 2), tool.err
    tool = case.tool("-p", job.pids()[0], "--duration", "1s", "--no-trace").done(120)
    assert not tool.said("cli.pid-is-launcher*"), tool.err


@test("proftrace is killed: the captures of all ranks leave in order")
def killed(case):
    job = Launched(case)
    tool = case.tool("--job", job.popen.pid, "--duration", "100s", "--no-trace")
    process.wait_for(lambda: len(tool.recordings()) == RANKS, 60, "three windows")
    captures = process.children(tool.pid)
    assert len(captures) == RANKS + 1, captures  # and the process that opens files
    tool.signal(signal.SIGKILL)
    process.wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") and process.state(pid) != "Z"
                                     for pid in captures), 60, "the end of the captures")
    job.wait_steps(2)
    for pid in job.pids():
        assert not process.changed_text(pid)
