# SPDX-License-Identifier: BSD-2-Clause
"""Exact counts of a server's steps, by each way to see them."""
import gzip
import json
import os
import subprocess
import time

from lib.ctl import ctl, obeyed, recording, wait_state
from lib.job import ROOT
from lib.process import PATIENCE, Snapshot
from lib.runner import test
from lib.tool import report
from server import Server, build

HANDLE = "server::handle(server::Model&, unsigned int)"
INFER = "server::Model::infer(server::Request&)"
FORWARD = "server::Layer::forward(server::Request&) const"
CHECK = "server::Layer::check(server::Request const&) const"


def rows(tables, table):
    return {r["name"]: r for r in tables[table]["rows"]}


def calls(tables, table="operator"):
    found = {}
    for r in tables.get(table, {"rows": []})["rows"]:
        found[r["name"]] = found.get(r["name"], 0) + r["calls"]
    return found


def summary(tables):
    return tables["summary"]["rows"][0]


def record(case, server, *options):
    tool = case.tool("-p", server.pid, *options).done()
    server.lives()
    return tool


@test("ranges, counters and markers of proftrace.h: frames are steps, counts are exact")
def header(case):
    check_header(case)


@test("doctor: that it has probes of proftrace.h, and steps by them")
def doctor(case):
    server = Server(case)
    said = case.tool("doctor", "-p", server.pid).done().out
    assert "probes: ranges, counters and markers; frames are steps" in said, said
    assert f"Ready: sudo proftrace -p {server.pid} --record 2:10" in said, said


@test("--usdt proftrace:*: what proftrace.h has is shown as what it is, once")
def header_chosen(case):
    check_header(case, "--usdt", "proftrace:*")


def check_header(case, *options):
    server = Server(case)
    before = Snapshot(server.pid)
    tool = record(case, server, "--record", "2:10", *options)
    tables = tool.report()
    before.check()
    assert summary(tables)["step_rule"].startswith("frame"), tool.out
    assert summary(tables)["steps"] == 8, tool.out
    assert "overlapped without nesting" not in tool.out, tool.out
    assert calls(tables, "userdefined") == {
        "server::request": 8, "server::parse": 8, "infer": 8, "server::answer": 8,
        "server::cleanup": 8}, tool.out
    counters = rows(tables, "counters")
    assert {n: r["calls"] for n, r in counters.items()} == {
        "server::number": 8, "server::served": 6, "server::reload": 1}, tool.out
    number, served = counters["server::number"], counters["server::served"]
    assert number["max"] - number["min"] == 7 and number["last"] == number["max"], tool.out
    assert served["max"] - served["min"] == 5 and served["last"] == served["max"], tool.out
    assert counters["server::reload"]["last"] is None, tool.out
    trace = json.loads(gzip.open(next(tool.dir.glob("*.json.gz"))).read())["traceEvents"]
    values = [e["args"]["value"] for e in trace if e["name"] == "server::number"]
    assert values == list(range(number["min"], number["max"] + 1)), values
    marks = [e for e in trace if e["name"] == "server::reload"]
    assert [(e["ph"], e["s"]) for e in marks] == [("i", "p")], marks


@test("proftrace.h in a library whose names nobody reads: they are not in memory, and shown all the same")
def library(case):
    source = case.dir / "marks.cpp"
    source.write_text('''#include "include/proftrace.h"
#include <unistd.h>
#ifdef LIBRARY
extern const char padding[1 << 20] = {1};
void work() { static proftrace::domain in("library"); proftrace::scope here(in, "work"); usleep(2000); }
#else
void work();
int main() { for (;;) work(); }
#endif
''')
    flags = ["-std=c++17", "-O1", f"-I{ROOT}", source]
    subprocess.run(["g++", *flags, "-DLIBRARY", "-shared", "-fPIC", "-o", case.dir / "libmarks.so"], check=True)
    subprocess.run(["g++", *flags, "-o", case.dir / "marks", case.dir / "libmarks.so",
                    "-Wl,-rpath,$ORIGIN"], check=True)
    # The file's pages are not in memory either: they were written by another process, and dropped.
    with open(case.dir / "libmarks.so", "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    program = subprocess.Popen([case.dir / "marks"])
    case.finally_(program.kill)
    tool = case.tool("-p", program.pid, "--duration", "500ms").done()
    tables = tool.report()
    assert set(calls(tables, "userdefined")) == {"library::work"}, tool.out
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tool.out


@test("--step-range: a range of proftrace.h opens each step")
def step_range(case):
    tool = record(case, Server(case), "--record", "1:5", "--step-range", "server::parse")
    tables = tool.report()
    assert summary(tables)["step_rule"].startswith("--step-range"), tool.out
    assert calls(tables, "userdefined")["server::parse"] == 4, tool.out


@test("--op: functions that throw are seen, end where they do, and the server lives")
def functions(case):
    server = Server(case)
    before = Snapshot(server.pid)
    tool = record(case, server, "--record", "2:10", "--op", "exe:server::[ML]*", "--step-probe",
                  "exe:server::handle")
    tables = tool.report()
    before.check()
    assert summary(tables)["step_rule"].startswith("--step-probe"), tool.out
    assert calls(tables) == {INFER: 8, FORWARD: 24, CHECK: 8}, tool.out
    assert "inside other operators" in rows(tables, "operator")[FORWARD]["section"], tool.out
    # A bad request ends in the catch, and not at the next request 2 ms later.
    assert rows(tables, "operator")[CHECK]["cpu_avg_ns"] < 1000000, tool.out
    assert "overlapped without nesting" not in tool.out, tool.out
    assert summary(tables).get("events_lost", 0) == 0, tool.out


@test("--op and --step-probe of one function: each of its calls is the first of its step, from end to end")
def step_is_operator(case):
    server = Server(case)
    for option in "--op", "--op-returns":
        tables = record(case, server, "--record", "2:10", option, "exe:server::handle", "--op", "exe:server::Model*",
                        "--step-probe", "exe:server::handle").report("--table", "operator,cost")
        outer = {r["name"]: r for r in tables["operator"]["rows"] if "inside" not in r["section"]}
        assert outer.keys() == {HANDLE} and calls(tables) == {HANDLE: 8, INFER: 8}, tables["operator"]
        assert 2 * outer[HANDLE]["cpu_min_ns"] > outer[HANDLE]["cpu_avg_ns"], outer
        assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]


@test("--op: without PIE, by mangled name, one by one, and several threads")
def no_pie(case):
    server = Server(case, 3, ("-no-pie", "-fno-pie"))
    tool = record(case, server, "--duration", f"{300 * PATIENCE:.0f}ms", "--attach-method", "perf", "--op",
                  "exe:_ZN6server5Model5infer*", "--op", "exe:*::forward")
    tables = tool.report()
    found = calls(tables)
    assert set(found) == {INFER, FORWARD} and found[INFER] > 20, tool.out
    assert abs(found[FORWARD] - 3 * found[INFER]) <= 9, tool.out
    assert summary(tables)["steps"] > 0, tool.out


@test("--op: a period of calls is a step where nothing else is")
def period(case):
    tool = record(case, Server(case, 1, ("-DPROFTRACE_DISABLE",)), "--record", "0:4", "--op",
                  "exe:server::Layer::forward")
    tables = tool.report()
    assert summary(tables)["step_rule"].startswith("operator period"), tool.out
    assert calls(tables) in ({FORWARD: 4}, {FORWARD: 12}), tool.out


@test("--op-returns: return probes on a function that the user allows")
def returns(case):
    server = Server(case)
    tool = record(case, server, "--record", "2:10", "--op-returns", "exe:*Layer::forward")
    assert calls(tool.report()) == {FORWARD: 24}, tool.out


JUMPS = """
#include <unistd.h>
__attribute__((noinline)) int works(int x) { for (volatile int i = 0; i < 1000; i++) x += i; return x; }
__attribute__((noinline)) int jumps(int x) { return works(x); }
__attribute__((noinline)) int handle(int x) { return jumps(x) + works(x); }
int main(void) { for (int n = 0;; n = handle(n) & 1) usleep(1000); }
"""


def jumping(case, text=JUMPS):
    source, binary = case.dir / "jumps.c", case.dir / "jumps"
    source.write_text(text)
    subprocess.run(["cc", "-O2", "-fno-inline", "-o", binary, source], check=True)
    job = subprocess.Popen([binary])
    case.finally_(job.kill)
    return job


# Go's linker marks its programs with this section.
GO = '__attribute__((section(".go.buildinfo"), used)) static const char mark[] = "go";'


@test("--op-returns: refused of Go, whose runtime ends a program at a return probe; --op says what it cannot tell")
def of_go(case):
    job = jumping(case, JUMPS + GO)
    case.tool("-p", job.pid, "--duration", "1s", "--op-returns", "exe:works").fails("capture.function-of-go", "works")
    said = case.tool("-p", job.pid, "--duration", "1s", "--op", "exe:works").done().out
    assert "missing: true times and counts of Go's functions, such as works" in said, said
    assert job.poll() is None


@test("--op: what is told of times that are not the function's own")
def not_its_own(case):
    job = jumping(case)
    tool = case.tool("-p", job.pid, "--record", "2:10", "--step-probe", "exe:handle", "--op", "exe:jumps", "--op",
                     "exe:works").done()
    assert calls(tool.report()) == {"jumps": 8, "works": 16}, tool.out
    assert "the end of jumps, which only jumps to another function: its time is that until" in tool.out, tool.out
    assert "function has a probe at an instruction that the kernel single-steps" in tool.out, tool.out  # works returns
    tool = case.tool("-p", job.pid, "--record", "2:10", "--step-probe", "exe:handle", "--op-returns", "exe:jumps").done()
    assert calls(tool.report()) == {"jumps": 8} and "which only jumps" not in tool.out, tool.out


@test("--allow-return-probe: a name that no return probe is on changes nothing, which is said")
def allowed_in_vain(case):
    tool = record(case, Server(case), "--record", "2:10", "--allow-return-probe", "nobody")
    assert tool.said("capture.allowed-probe-not-planned", "nobody"), tool.err


@test("--record-shapes and --profile-memory: of no framework they show nothing, which is said")
def shapes(case):
    said = record(case, Server(case), "--record", "2:10", "--record-shapes", "--profile-memory").out
    for option in "--record-shapes", "--profile-memory":
        assert f"missing: {option}: no framework is known in the process" in said, said


@test("--usdt: probes that are there already, as marks")
def usdt(case):
    tool = record(case, Server(case), "--record", "2:10", "--usdt", "libstdcxx:throw", "--usdt",
                  "libstdcxx:c*h")
    found = {n: r["calls"] for n, r in rows(tool.report(), "counters").items()
             if n.startswith("libstdcxx")}
    assert found == {"libstdcxx:throw": 2, "libstdcxx:catch": 2}, tool.out


@test("run: a program of no framework is recorded from its start")
def run(case):
    binary = build(case.dir)
    for options in ((), ("--op", "exe:server::Model::*")):
        tool = case.tool("run", "--record", "2:10", *options, "--", binary, "log", 1, 1500)
        tool.done()
        tables = tool.report()
        assert calls(tables, "userdefined")["server::request"] == 8, tool.out + tool.err
        assert calls(tables) == ({INFER: 8} if options else {}), tool.out + tool.err


@test("run --no-steps: it stands still until its probes are in, but for the call that it is in by then")
def run_all(case):
    for flags in (), ("-static",):
        tool = case.tool("run", "--no-steps", "--op", "exe:server::handle", "--", build(case.dir, *flags), "log", 1, 300)
        tables = tool.done().report()
        for table, name in ("userdefined", "server::request"), ("operator", HANDLE):
            assert 298 <= calls(tables, table)[name] <= 300, tool.out + tool.err


@test("what is not there: errors name it, what is near, and the next step")
def errors(case):
    server = Server(case)
    stripped = Server(case_named(case, "stripped"), 1, ("-s",))

    def fails(target, option, value, key, *arguments):
        case.tool("-p", target.pid, "--duration", "1s", option, value).fails(key, value, *arguments, timeout_s=30)

    fails(server, "--op", "exe:server::handel", "capture.function-not-found-suggested", "server::handle")
    fails(server, "--op", "libstdc++.so:*", "capture.functions-too-many", 500)
    fails(server, "--op", "libmodel.so:f", "capture.function-library-missing*", "libmodel.so")
    fails(server, "--op", "handle", "capture.function-option-invalid")
    fails(server, "--usdt", "libstdcxx:thro", "capture.usdt-probe-not-found*", "libstdcxx:throw")
    fails(server, "--usdt", "throw", "cli.usdt-option-invalid")
    fails(server, "--step-probe", "exe:server::*", "capture.step-probe-ambiguous")
    fails(stripped, "--op", "exe:server::handle", "capture.function-library-stripped")
    server.lives()


class case_named:
    """A case whose directory lies inside another case's."""

    def __init__(self, case, name):
        self.dir = case.dir / name
        self.dir.mkdir()
        self.finally_ = case.finally_


@test("SIGKILL: a tool that is killed leaves the server's text as it was")
def killed(case):
    server = Server(case)
    before = Snapshot(server.pid)
    tool = case.tool("-p", server.pid, "--duration", "30s", "--op", "exe:server::*", "--op-returns",
                     "exe:*Layer::forward").wait_recording()
    server.lives()
    tool.stop()
    before.check()
    server.lives()


@test("ctl where no step is seen: windows begin and end at once, and each holds what ran in it")
def ctl_without_steps(case):
    server = Server(case, 1, ("-DPROFTRACE_DISABLE",))
    before = Snapshot(server.pid)
    tool = case.tool("-p", server.pid, "--paused", "--no-trace", "--op", f"exe:{INFER}")
    wait_state(server, "state: paused")
    assert "no window is open" in ctl(server, "dump")[1]
    assert not tool.recordings()
    for verb in ("start", "resume"):
        obeyed(server, verb)
        wait_state(server, "state: recording")
        assert "already" in ctl(server, verb)[1]
        time.sleep(PATIENCE)
        obeyed(server, "pause")
        wait_state(server, "state: paused", "current recording: -")
    obeyed(server, "start")
    wait_state(server, "state: recording", "recordings written: 2")
    obeyed(server, "reset")
    wait_state(server, "state: recording", "recordings written: 2")
    time.sleep(PATIENCE)
    obeyed(server, "dump")
    wait_state(server, "recordings written: 3", "state: recording")
    time.sleep(PATIENCE)
    obeyed(server, "stop")
    tool.done()
    server.lives()
    before.check()
    windows = [report(recording(tool, i)) for i in range(4)]
    assert len(tool.recordings()) == 4, tool.recordings()
    for tables in windows:
        assert calls(tables)[INFER] > 0, tables["operator"]
        assert summary(tables)["steps"] in (0, None), summary(tables)


@test("--dump-every where no step is seen")
def dump_every_without_steps(case):
    server = Server(case, 1, ("-DPROFTRACE_DISABLE",))
    tool = case.tool("-p", server.pid, "--no-trace", "--op", f"exe:{INFER}", "--dump-every", "500ms",
                     "--duration", f"{2 * PATIENCE:.0f}s").done()
    assert len(tool.recordings()) >= 3, tool.recordings()
    for i in range(3):
        assert calls(report(recording(tool, i)))[INFER] > 0


def by_frames(tables):
    """A window begins and ends within a frame, or between two."""
    found, requests = summary(tables), calls(tables, "userdefined")["server::request"]
    assert found["step_rule"].startswith("frame"), found
    assert found["steps"] > 0 and requests - 2 <= found["steps"] <= requests, (found, requests)


@test("windows of time: frames are their steps, at once")
def frames_of_time(case):
    server = Server(case)
    by_frames(record(case, server, "--duration", f"{PATIENCE:.0f}s").report())
    tool = record(case, server, "--no-trace", "--dump-every", "500ms", "--duration", f"{2 * PATIENCE:.0f}s")
    for i in range(3):
        by_frames(report(recording(tool, i)))
    tool = case.tool("-p", server.pid, "--no-trace").wait_recording()
    time.sleep(PATIENCE)
    by_frames(tool.interrupt().done().report())
    tables = record(case, server, "--duration", f"{PATIENCE:.0f}s", "--no-steps").report()
    assert summary(tables)["steps"] == 0 and calls(tables, "userdefined")["server::request"], summary(tables)


@test("ctl: frames are the steps of windows that it begins and ends")
def frames_by_ctl(case):
    server = Server(case)
    tool = case.tool("-p", server.pid, "--paused", "--no-trace")
    wait_state(server, "state: paused")
    for _ in range(2):
        obeyed(server, "start")
        wait_state(server, "state: recording")
        time.sleep(PATIENCE)
        obeyed(server, "pause")
        wait_state(server, "state: paused", "current recording: -")
    obeyed(server, "stop")
    tool.done()
    for i in range(2):
        by_frames(report(recording(tool, i)))
