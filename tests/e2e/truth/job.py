# SPDX-License-Identifier: BSD-2-Clause
"""A workload under the test's control, and proftrace runs on it."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from checks import Mismatch
from events import Span

WORKLOADS = pathlib.Path(__file__).parents[2] / "workloads"
TIMEOUT_S = 60
GAP_NS = 10_000  # no event of a step begins so late before the next


class Job:
    """A workload process. It stands still between steps until it gets a command (see stepper.py)."""

    def __init__(self, script, *args):
        self.title = " ".join([script, *args])
        self.directory = tempfile.TemporaryDirectory(prefix="truth.")
        self.process = subprocess.Popen(
            [sys.executable, WORKLOADS / script, *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ready = self._answer()
        self.pid, self.tid = ready["pid"], ready["tid"]
        self.torch = tuple(ready["torch"])

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.directory.cleanup()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.title}: ended, status {self.process.wait()}")
        return json.loads(line)

    def _ask(self, command):
        self._send(command)
        return self._answer()

    def _send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def run(self, steps):
        return self._ask(f"run {steps}")

    def _main_spans(self):
        """Spans of the main thread that torch.profiler saw."""
        with open(self.path("events.json")) as file:
            rows = json.load(file)
        return [Span.from_kineto(row) for row in rows if row["tid"] == self.tid]

    def profile(self, steps, shapes=False):
        """Returns torch.profiler's events of so many steps."""
        self._ask(f"{'shapes' if shapes else 'profile'} {steps} {self.path('events.json')}")
        return self._main_spans()

    def profiler_cost_us(self):
        """Returns the time that torch.profiler adds to an operator's caller."""
        return self._ask("cost")["operator_ns"] / 1e3

    def stamps(self):
        self._ask(f"stamps {self.path('stamps.json')}")
        with open(self.path("stamps.json")) as file:
            return json.load(file)

    def record(self, window, detail, *options, meanwhile="run 0"):
        """Lets the job run steps while proftrace watches the window ("2:6", or "5s"); the trace."""
        trace, recording = self.path("trace.json"), self.path("recording")
        how = ["--record", window] if ":" in window else ["--duration", window]
        command = [os.environ["PROFTRACE"], "-p", str(self.pid), *how, "--detail", detail,
                   "--no-prune", "-o", recording, "--trace", trace, "--no-report", "--no-progress",
                   *options]
        self._send(meanwhile)
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as expired:
            raise Mismatch(f"proftrace had not ended after {TIMEOUT_S} s") from expired
        finally:
            self._ask("run 1")  # ends the running command, whose answer comes now
            self._answer()
        if done.returncode:
            raise Mismatch(f"proftrace exited with {done.returncode}: {done.stdout}")
        return Trace(trace, self)

    def record_watched(self, window, detail):
        """Returns the trace, and torch.profiler's events of the same calls and of others around them."""
        trace = self.record(window, detail, meanwhile=f"watched {self.path('events.json')}")
        return trace, self._main_spans()

    def _averages(self, command):
        self._ask(f"{command} {self.path('averages.json')}")
        with open(self.path("averages.json")) as file:
            return json.load(file)

    def averages(self, steps):
        """Returns the rows of torch.profiler's key_averages() over so many steps, by their grouping."""
        return self._averages(f"averages {steps}")

    def record_averaged(self, window, detail, *options):
        """Returns the rows of torch.profiler's key_averages() of the same steps."""
        trace = self.record(window, detail, *options, meanwhile="everything")
        steps = trace.steps()
        first, last = (round(t - trace.zero_ns + trace.wall_zero_ns) - GAP_NS
                       for t in (steps[0][0], steps[-1][1]))
        return self._averages(f"between {first} {last}")

    def report(self, table, form, *options):
        """The text of a report of the latest recording."""
        done = subprocess.run(
            [os.environ["PROFTRACE"], "report", self.path("recording"), "--table", table,
             "--format", form, *options],
            stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=True)
        return done.stdout

    def table(self, name, *options):
        """Rows of a table of the latest recording; times are nanoseconds."""
        return json.loads(self.report(name, "json", *options))[name]["rows"]

    def probe_cost_us(self):
        """Returns the time that a span's probes, two hits, add to its caller, as proftrace states it."""
        (row,) = self.table("cost")
        return 2 * row["added_per_step_ns"] / row["hits_per_step"] / 1e3


class Trace:
    """The Chrome trace of a recording, with times on CLOCK_MONOTONIC."""

    def __init__(self, path, job):
        with open(path) as file:
            data = json.load(file)
        self.job = job
        self.events = [e for e in data["traceEvents"] if e["ph"] == "X"]
        self.flows = [e for e in data["traceEvents"] if e["ph"] in "sf"]
        self.wall_zero_ns = data["baseTimeNanoseconds"]
        # the workload's own notes are monotonic
        self.zero_ns = self.wall_zero_ns - (time.time_ns() - time.monotonic_ns())
        self.begin_ns = self.zero_ns + min(e["ts"] for e in self.events) * 1000
        self.end_ns = self.zero_ns + max(e["ts"] + e["dur"] for e in self.events) * 1000

    def of_main_thread(self, *categories):
        return [Span.from_trace(e) for e in self.events
                if e["tid"] == self.job.tid and e["cat"] in categories]

    def forward_of_nodes(self):
        """By begin of a backward node in nanoseconds: the names of the operators that its arrow may come from. Times
        are whole microseconds: several operators, and several nodes, may begin in one."""
        at, nodes = collections.defaultdict(set), collections.defaultdict(set)
        for e in self.events:
            if e["cat"] == "cpu_op":
                at[e["tid"], e["ts"]].add(e["name"])
        starts = {e["id"]: at[e["tid"], e["ts"]] for e in self.flows
                  if e["ph"] == "s" and e["name"] == "fwdbwd"}
        for e in self.flows:
            if e["ph"] == "f" and e["name"] == "fwdbwd":
                nodes[round(e["ts"] * 1000)] |= starts[e["id"]]
        return nodes

    def steps(self):
        """Begin and end of each."""
        marks = [e for e in self.events if e["name"].startswith("ProfilerStep#")]
        return [(self.zero_ns + e["ts"] * 1000, self.zero_ns + (e["ts"] + e["dur"]) * 1000)
                for e in marks]
