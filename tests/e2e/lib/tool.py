# SPDX-License-Identifier: BSD-2-Clause
"""proftrace as the tests run it."""
import bisect
import json
import os
import pathlib
import signal
import subprocess

from lib import process

PROFTRACE = os.environ.get(
    "PROFTRACE", str(pathlib.Path(__file__).resolve().parents[3] / "build/proftrace"))


class Tool:
    """One run of proftrace in a directory of its own, where its files go."""
    count = 0

    def __init__(self, directory, *args, wrap=(), stdout=None, binary=PROFTRACE, env=None):
        Tool.count += 1
        self.dir = pathlib.Path(directory) / f"tool{Tool.count}"
        self.dir.mkdir()
        self.dir.chmod(0o755)
        self.command = [*wrap, binary, *map(str, args)]
        with open(self.dir / "stdout", "w") as out, open(self.dir / "stderr", "w") as err:
            self.popen = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, cwd=self.dir,
                                          stdout=out if stdout is None else stdout, stderr=err,
                                          env=env, start_new_session=True)
        self.pid = self.popen.pid

    @property
    def out(self):
        return (self.dir / "stdout").read_text()

    @property
    def err(self):
        return (self.dir / "stderr").read_text()

    def recordings(self):
        return sorted(self.dir.glob("*.ptrec"))

    def wait(self, timeout_s=60):
        timeout_s *= process.PATIENCE
        try:
            return self.popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{' '.join(self.command)} still runs after {timeout_s} s: "
                                 f"{self.err}") from None

    def done(self, timeout_s=60):
        """Waits for success."""
        status = self.wait(timeout_s)
        assert status == 0, f"{' '.join(self.command)} ended with {status}: {self.err}"
        return self

    def fails(self, *words, timeout_s=60):
        """Waits for failure whose message has all of the words."""
        status = self.wait(timeout_s)
        assert status > 0, f"{' '.join(self.command)} ended with {status}: {self.err}"
        for word in words:
            assert word in self.err, f"no '{word}' in: {self.err}"
        return self

    def wait_recording(self, timeout_s=120):
        """Waits until a window is open: its file is there then."""
        process.wait_for(lambda: self.recordings() or self.popen.poll() is not None, timeout_s,
                         "a window")
        assert self.popen.poll() is None, f"proftrace ended: {self.err}"
        return self

    def signal(self, sig):
        self.popen.send_signal(sig)

    def interrupt(self):
        self.signal(signal.SIGINT)
        return self

    def stop(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()

    def report(self, *options, index=0):
        return report(self.recordings()[index], *options)

    def events(self, index=0):
        return events(self.recordings()[index])


def report(path, *options):
    """The tables of a recording, as parsed JSON."""
    done = subprocess.run([PROFTRACE, "report", "--format", "json", *options, str(path)],
                          text=True, capture_output=True)
    assert done.returncode == 0, f"report {path}: {done.stderr}"
    return json.loads(done.stdout)


def events(path):
    """A recording's steps and events, with what the model knows of them."""
    done = subprocess.run([PROFTRACE, "export", "--format", "jsonl", "-o", "-", str(path)],
                          text=True, capture_output=True)
    assert done.returncode == 0, f"export {path}: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def row(tables, table):
    return tables[table]["rows"][0]


def calls(tables, name):
    """How often an operator or range of that name was seen."""
    return sum(r.get("calls") or 0 for r in tables.get("operator", {"rows": []})["rows"]
               if r.get("name") == name)


def check_step_times(tables, own_ns):
    """The steps of the Perf table are, on average, as long as the job says that as many in a row were."""
    cnt, ours_ns = row(tables, "summary")["steps"], 1e9 * next(
        r["avg"] for r in tables["perf"]["rows"] if r["name"] == "batch_cost")
    theirs_ns = [sum(own_ns[i:i + cnt]) / cnt for i in range(len(own_ns) - cnt + 1)]
    assert min(abs(ns / ours_ns - 1) for ns in theirs_ns) < 0.1, (ours_ns, theirs_ns)


def distance(job, recording):
    """From proftrace's number of a step to the job's own, by the time at which it begins."""
    steps = [e for e in events(recording) if e["type"] == "step"]
    ends = job.step_ends()
    (found,) = {bisect.bisect_left(ends, e["ts_ns"]) - e["step"] for e in steps}
    return found
