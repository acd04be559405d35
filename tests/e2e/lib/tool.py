# SPDX-License-Identifier: BSD-2-Clause
"""Runs proftrace for the tests."""
import bisect
import fnmatch
import json
import os
import pathlib
import signal
import subprocess

from lib import process

PROFTRACE = os.environ.get(
    "PROFTRACE", str(pathlib.Path(__file__).resolve().parents[3] / "build/proftrace"))


# Ctrl-C ended proftrace before a window was open. The key depends on what proftrace did at that time.
STOPPED = "cli.stopped-early", "capture.start-stopped", "capture.window-stopped"


class Message:
    """A line of stderr: an object of --messages json."""

    def __init__(self, line):
        self.level, self.key, self.arguments = line["level"], line["key"], line.get("arguments", [])
        about, rank = line.get("process"), line.get("rank")
        self.prefix = "" if about is None else f"{about}: " if rank is None else f"rank {rank} ({about}): "
        title = {"warning": "warning: ", "debug": "debug: "}.get(self.level, "")
        self.line = f"proftrace: {self.prefix}{title}{line['text']}"
        self.causes = self.all_causes(line)

    @staticmethod
    def all_causes(known):
        """Returns (key, arguments) of a message's causes, and of their causes."""
        causes = known.get("causes", [])
        return [(cause["key"], cause.get("arguments", [])) for cause in causes] + [
            found for cause in causes for found in Message.all_causes(cause)]

    def is_of(self, key, arguments):
        """True if the message or a cause has this key, with these arguments among others. The key may be a pattern, or
        several keys. A text may be a part of an argument."""
        def among(wanted, given):
            return any(wanted == g or isinstance(wanted, str) and isinstance(g, str) and wanted in g for g in given)

        wanted = [a if isinstance(a, (int, float)) else str(a) for a in arguments]
        keys = (key,) if isinstance(key, str) else key
        return any(known and any(fnmatch.fnmatch(known, k) for k in keys) and all(among(w, given) for w in wanted)
                   for known, given in [(self.key, self.arguments), *self.causes])


def message(line):
    """Returns None for a line that is no message, but from a table or from the program of `proftrace run`."""
    try:
        parsed = json.loads(line)
    except ValueError:
        return None
    return Message(parsed) if isinstance(parsed, dict) and "level" in parsed and "text" in parsed else None


class Tool:
    """One run of proftrace in its own directory, where its files go. Its messages are JSON."""
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
                                          env={**(os.environ if env is None else env), "PROFTRACE_MESSAGES": "json"},
                                          start_new_session=True)
        self.pid = self.popen.pid

    @property
    def out(self):
        return (self.dir / "stdout").read_text()

    @property
    def err(self):
        """Returns stderr as it is without PROFTRACE_MESSAGES."""
        lines = (self.dir / "stderr").read_text().split("\n")
        return "\n".join(m.line if m else line for line, m in ((line, message(line)) for line in lines))

    def messages(self):
        return list(filter(None, map(message, (self.dir / "stderr").read_text().split("\n"))))

    def said(self, key, *arguments):
        """True if there was a message, or a cause, with this key and these arguments among others."""
        return any(m.is_of(key, arguments) for m in self.messages())

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

    def fails(self, key, *arguments, timeout_s=60):
        """Waits for failure with a message of this key, which has all of the arguments."""
        status = self.wait(timeout_s)
        assert status > 0, f"{' '.join(self.command)} ended with {status}: {self.err}"
        assert self.said(key, *arguments), f"no {key} {arguments}: {(self.dir / 'stderr').read_text()}"
        return self

    def wait_recording(self, timeout_s=120):
        """Waits until a window is open. Its file exists from then on."""
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
    """Returns a recording's tables as parsed JSON."""
    done = subprocess.run([PROFTRACE, "report", "--format", "json", *options, str(path)],
                          text=True, capture_output=True)
    assert done.returncode == 0, f"report {path}: {done.stderr}"
    return json.loads(done.stdout)


def events(path):
    """Returns a recording's steps and events, with the model's facts."""
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
    """The mean step of the Perf table must be as long as the job's own mean over as many steps in a row."""
    cnt, ours_ns = row(tables, "summary")["steps"], 1e9 * next(
        r["avg"] for r in tables["perf"]["rows"] if r["name"] == "batch_cost")
    theirs_ns = [sum(own_ns[i:i + cnt]) / cnt for i in range(len(own_ns) - cnt + 1)]
    assert min(abs(ns / ours_ns - 1) for ns in theirs_ns) < 0.1, (ours_ns, theirs_ns)


def distance(job, recording):
    """Returns the difference between the job's step number and proftrace's, found by the step's begin."""
    steps = [e for e in events(recording) if e["type"] == "step"]
    ends = job.step_ends()
    (found,) = {bisect.bisect_left(ends, e["ts_ns"]) - e["step"] for e in steps}
    return found
