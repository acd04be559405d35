# SPDX-License-Identifier: BSD-2-Clause
"""Tests `run`, and what can be made from its recording without root after the program has ended."""
import csv
import json
import os
import re
import signal
import sys

import sense
from lib import process
from lib.job import ENV, PYTHON, WORKLOADS
from lib.runner import test
from lib.tool import report

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs")


def sections(text):
    """Returns the tables of CSV: title -> rows as dictionaries."""
    found = {}
    for part in text.split("\n\n"):
        title, *lines = part.strip().splitlines()
        body = [line for line in lines if not line.startswith("# ")]
        found[title[2:]] = list(csv.DictReader(body))
    return found


class Offline:
    """Runs commands as the user nobody, on a copy of the recording that this user may read, but not write."""

    def __init__(self, case, recording):
        self.case = case
        self.dir = case.dir / "elsewhere"
        self.dir.mkdir()
        self.path = self.dir / recording.name
        self.path.write_bytes(recording.read_bytes())
        self.path.chmod(0o444)
        os.chown(self.dir, 65534, 65534)

    def __call__(self, *args):
        tool = self.case.tool(*args, wrap=NOBODY)
        return tool.done().out

    def report(self, *options):
        return self("report", *options, self.path)


def check_formats(offline, tables):
    assert json.loads(offline.report("--format", "json")) == tables
    found = sections(offline.report("--format", "csv"))
    assert len(found["Operator Summary"]) == len(sense.rows(tables, "operator"))
    for row, same in zip(found["Operator Summary"], sense.rows(tables, "operator")):
        assert (row["name"], int(row["cpu_total_ns"])) == (same["name"], same["cpu_total_ns"])
    for width in (40, 80, 120):
        sense.check_text(offline.report("--width", width), width)


def check_choice(offline):
    text = offline.report("--table", "model,perf")
    assert sense.titles(text) == ["Model Summary", "Perf Summary"], text
    names = re.findall(r"^(\w+)  +\S", offline("report", "--list-tables"), re.M)
    assert {"device", "overview", "model", "operator", "userdefined", "memory", "sched"} < set(names)
    for name in names:
        sense.check_text(offline.report("--table", name, "--width", 80), 80)
    every = sense.titles(offline.report("--table", "all", "--width", 100))
    assert {"Overview Summary", "Operator Summary", "Perf Summary"} < set(every), every
    tool = offline.case.tool("report", "--table", "modle", offline.path)
    tool.fails("analysis.table-unknown-suggested", "modle", "model", "operator")


def check_sorting(offline):
    for key, column, descending in (("cpu_total", "cpu_total_ns", True),
                                    ("cpu_avg", "cpu_avg_ns", True),
                                    ("cpu_max", "cpu_max_ns", True),
                                    ("cpu_min", "cpu_min_ns", False), ("calls", "calls", True)):
        tables = json.loads(offline.report("--sorted-by", key, "--format", "json"))
        values = [r[column] for r in sense.sections(tables)["Thread: All threads merged"]]
        assert values == sorted(values, reverse=descending), (key, values)


def check_units(offline, tables):
    step = sense.by_name(tables, "model")["ProfileStep"]["cpu_total_ns"]
    for unit, ns in (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1)):
        text = offline.report("--time-unit", unit, "--table", "model")
        assert f"Elapsed ({unit})" in text, text
        shown = float(re.search(r"^ProfileStep +\d+ +([\d.]+) ", text, re.M)[1])
        assert abs(shown * ns - step) <= max(1, 0.005 * ns), (unit, shown, step)


def check_rows(offline, tables):
    cnt = [len(section) for section in sense.sections(tables, estimated=True).values()]
    text = offline.report("--row-limit", 3, "--table", "operator")
    assert f"{sum(c - min(c, 3) for c in cnt)} more rows left out" in text, text
    shown = len(re.findall(r"^~?(aten::|\w+Backward\d |torch::autograd)", text, re.M))
    assert shown == sum(min(c, 3) for c in cnt), text
    text = offline.report("--by-thread", "--table", "operator")
    assert re.search(r"-Thread: .*\(\d+\)-", text) and "merged" not in text, text
    assert "samples/s" in offline.report("--batch-size", 4, "--table", "perf")
    raw = json.loads(offline.report("--raw-times", "--format", "json"))
    more, less = (sense.by_name(t, "model")["ProfileStep"]["cpu_total_ns"] for t in (raw, tables))
    assert more > less, "--raw-times leaves nothing in"


def check_export(offline):
    os.chdir("/")
    offline("export", "--format", "chrome", "--output", offline.dir, offline.path)
    traces = list(offline.dir.glob("*.pt.trace.json.gz"))
    assert len(traces) == 1, traces
    events = sense.check_trace(traces[0], 8)
    offline("export", "-o", offline.dir / "plain.json", offline.path)
    assert len(sense.check_trace(offline.dir / "plain.json", 8)) == len(events)
    before = offline.path.read_bytes()
    onto = offline.case.tool("export", "-o", offline.path, offline.path)
    onto.fails("cli.export-is-recording", offline.path)
    assert offline.path.read_bytes() == before


@test("run from the start; report and export later, without root, without the program")
def run_and_report(case):
    tool = case.tool("run", "--record", "2:10", "--", PYTHON, WORKLOADS / "train.py", "--steps",
                     150, env=dict(ENV)).done(90)
    assert not tool.out, tool.out  # it is the program's
    assert sense.titles(tool.err) == ["Model Summary", "Operator Summary"], tool.err
    sense.check_text(tool.err)
    tables = report(tool.recordings()[0])
    sense.check(tables, 8)
    offline = Offline(case, tool.recordings()[0])
    assert offline.report() in tool.err, tool.err
    check_formats(offline, tables)
    check_choice(offline)
    check_sorting(offline)
    check_units(offline, tables)
    check_rows(offline, tables)
    check_export(offline)


def run_for_a_second(case, *options):
    return case.tool("run", "--duration", "1s", "--no-trace", *options, "--", "sh", "-c",
                     "echo begun; sleep 3; echo over")


@test("run: standard output is the program's own; the tables go to standard error, or to a file")
def run_output(case):
    tool = run_for_a_second(case, "--format", "json").done()
    assert tool.out == "begun\nover\n", tool.out
    begin, end = tool.err.index("\n{") + 1, tool.err.index("\n}") + 2
    assert json.loads(tool.err[begin:end])["summary"], tool.err
    tool = run_for_a_second(case, "--format", "json", "--report-file", "tables.json").done()
    assert tool.out == "begun\nover\n" and "{" not in tool.err, tool.out + tool.err
    assert json.loads((tool.dir / "tables.json").read_text())["summary"]
    tool = run_for_a_second(case, "--report-file", "/dev/stdout").done()
    assert "Sched" in tool.out and "Sched" not in tool.err, tool.out + tool.err
    tool = run_for_a_second(case, "--no-report").done()
    assert tool.out == "begun\nover\n", tool.out


@test("tables are not written over the recording, whatever name it has")
def own_recording(case):
    recording, other = case.dir / "a.ptrec", case.dir / "other.ptrec"
    other.symlink_to(recording)
    tool = run_for_a_second(case, "-o", recording, "--report-file", other)
    tool.fails("cli.report-file-is-kept-recording", other, recording)
    assert json.loads(case.tool("report", "--format", "json", recording).done().out)["summary"]


@test("run: the program's own status, and programs that cannot be profiled")
def run_status(case):
    case.tool("run", "--record", "2:4", "--", "/nonexistent/program").fails(
        "cli.program-not-found", "/nonexistent/program", "No such file")
    tool = case.tool("run", "--record", "0:2", "--no-report", "--no-trace", "--", PYTHON,
                     WORKLOADS / "mlp_train.py", "--steps", 1500, "--exit-status", 3, env=dict(ENV))
    assert tool.wait(60) == 3, tool.err
    assert tool.said("cli.program-failed", 3) and tool.recordings(), tool.err
    case.tool("run", "--record", "0:2", "--", sys.executable, "-c", "print('hello')").fails("capture.framework-never-loaded")


SAVES = """
import signal, sys
signal.signal(signal.SIGUSR2, lambda *_: None)
signal.signal(signal.SIGUSR1, lambda *_: print('saved', flush=True))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print('ready', flush=True)
while True:
    signal.pause()
"""


@test("run: what tells the program to save its state or to end reaches it")
def run_signals(case):
    for wrap, first in (((), signal.SIGUSR2), (("nohup",), signal.SIGHUP)):
        tool = case.tool("run", "--record", "0:2", "--", sys.executable, "-c", SAVES, wrap=wrap)
        process.wait_for(lambda: "ready" in tool.out, 30, "the program")
        tool.signal(first)
        tool.signal(signal.SIGUSR1)
        process.wait_for(lambda: "saved" in tool.out or tool.popen.poll() is not None, 30, "its save")
        assert tool.popen.poll() is None, tool.err
        tool.signal(signal.SIGTERM)
        assert tool.wait(30) == 7, tool.err
