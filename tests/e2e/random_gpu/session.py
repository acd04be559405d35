# SPDX-License-Identifier: BSD-2-Clause
"""Runs one random job under proftrace, in its own directory."""
import os
import pathlib
import re
import signal
import subprocess
import time

BUILD = pathlib.Path(os.environ["BUILD"])
PROFTRACE = os.environ["PROFTRACE"]
SIM = BUILD / "simgpu/13"
HERE = pathlib.Path(__file__).resolve().parent
BINARY = BUILD / "random-gpu-job"
LONG_S = 120


class Failed(AssertionError):
    """The job or proftrace failed."""


def wait_for(is_true, what):
    until = time.monotonic() + LONG_S
    while not is_true():
        if time.monotonic() > until:
            raise Failed(f"waited in vain for {what}")
        time.sleep(0.02)


class Rank:
    """One process of the job."""

    def __init__(self, directory, job, number):
        self.dir = directory / f"rank{number}"
        self.dir.mkdir()
        rank = f"rank {number} {job.ranks} {directory / 'id'}\n" if job.ranks else ""
        (self.dir / "job").write_text(rank + job.text)
        (self.dir / "rules").write_text(job.rules)
        self.env = dict(os.environ, **job.env, SIMGPU_TRUTH=str(self.dir / "truth"), SIMGPU_TRUTH_API="1",
                        SIMGPU_COPY_MAX_MB="1", SIMGPU_RULES=str(self.dir / "rules"))
        program = [str(SIM / "venv/bin/python"), str(HERE / "torch_job.py")] if job.framework else [str(BINARY)]
        self.command = [*program, str(self.dir / "job"), str(self.dir / "notes")]
        self.recording = self.dir / "out.ptrec"
        self.popens = []

    def options(self, job):
        marks = [] if job.framework else ["--step-range", "job::step", "--op", "exe:operator_*"]
        return ["--no-trace", "--no-progress", "--no-report", *marks, "--no-prune",
                "--record", f"{job.steps[0]}:{job.steps[1]}", "-o", str(self.recording)]

    def start(self, name, command):
        with open(self.dir / name, "w") as out:
            popen = subprocess.Popen(command, env=self.env, cwd=self.dir, stdout=out, stderr=subprocess.STDOUT,
                                     stdin=subprocess.DEVNULL)
        self.popens.append(popen)
        return popen

    def text(self, name):
        path = self.dir / name
        return path.read_text() if path.exists() else ""

    def pid(self):
        found = re.search(r"ready (\d+)\n", self.text("job.log") + self.text("tool.log"))
        return int(found[1]) if found else None

    def run(self, job):
        """Runs the job under proftrace from the beginning."""
        self.tool = self.start("tool.log", [PROFTRACE, "run", "--cupti", str(SIM / "lib/libcupti.so.13"),
                                            *self.options(job), "--", *self.command])

    def run_alone(self):
        self.start("job.log", self.command)

    def attach(self, job):
        self.tool = self.start("tool.log", [PROFTRACE, "-p", str(self.pid()), *self.options(job)])

    def is_recorded(self):
        return "proftrace: recording: " in self.text("tool.log") or any(p.poll() is not None for p in self.popens)

    def check_alive(self):
        for popen in self.popens:
            if popen.poll() not in (None, 0):
                raise Failed(f"{popen.args[0]} ended with {popen.poll()}: {self.text('tool.log')[-2000:]}")

    def kill(self):
        for popen in self.popens:
            if popen.poll() is None:
                popen.kill()
            popen.wait()
        # Under `run` the job is the tool's child.
        pid = self.pid()
        try:
            if pid and str(self.dir) in pathlib.Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGKILL)
        except OSError:
            pass

    def truth(self):
        found, = self.dir.glob("truth.*")
        return found


def run(directory, job):
    """Returns the ranks, recorded and ended."""
    ranks = [Rank(directory, job, number) for number in range(job.ranks or 1)]
    try:
        for rank in ranks:
            rank.run_alone() if job.late else rank.run(job)
        wait_for(lambda: all(r.pid() or r.popens[0].poll() is not None for r in ranks), "the job to be ready")
        for rank in ranks if job.late else ():
            rank.check_alive()
            rank.attach(job)
        wait_for(lambda: all(r.is_recorded() for r in ranks), "a recording")
        os.kill(ranks[0].pid(), signal.SIGTERM)
        wait_for(lambda: all(p.poll() is not None for r in ranks for p in r.popens), "the end")
        for rank in ranks:
            rank.check_alive()
    finally:
        for rank in ranks:
            rank.kill()
    return ranks
