# SPDX-License-Identifier: BSD-2-Clause
"""What Paddle's profilers before 2.3 wrote: fluid.profiler's report and profile.proto, cuda_profiler's logs. Of the
simulation's log, and of fluid.profiler itself, which 2.6.2 still has."""
import collections
import csv
import io
import re
import signal
import subprocess

from lib import process
from lib.device_truth import same
from lib.runner import test
from lib.tool import PROFTRACE
from test_truth import MIXED, OWNERS, kernel_times, record, start, truth_of

PROFILED = 8  # steps of paddle_train.py
GPU_KERNEL = 1


def recorded(case, *args):
    job = start(case, *args)
    tool = record(case, job)
    truth, _, rows = truth_of(case, job, tool, tool.events())
    return tool, truth, rows


def export(tool, *args):
    done = subprocess.run([PROFTRACE, "export", *args, "-o", "-", str(tool.recordings()[0])], capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- fluid.profiler's report ----

def classic(tool, state):
    table = tool.report("--table", "classic", "--state", state, "--row-limit", "0")["classic"]
    return {r["event"]: r for r in table["rows"]}, table["notes"]


def note(notes, what):
    (found,) = (n.split(what, 1)[1] for n in notes if what in n)
    return found


@test("fluid.profiler's report: times of the GPU are the truth's with each state")
def report(case):
    tool, _, rows = recorded(case)
    (cpu, _), (gpu, notes), (both, _) = (classic(tool, state) for state in ("CPU", "GPU", "All"))
    kernels = [r for r in rows if r["kind"] == "kernel"]
    for name, ns in kernel_times(kernels)[0].items():
        if name not in MIXED:
            same(gpu[name]["total_ns"], sum(ns), name)
    same(cpu.keys(), gpu.keys(), "events")
    for name, r in both.items():
        same((r["cpu_ns"], r["gpu_ns"]), (cpu[name]["total_ns"], gpu[name]["total_ns"]), name)
        same(r["total_ns"], r["cpu_ns"] + r["gpu_ns"], name)
        assert r["min_ns"] <= r["ave_ns"] <= r["max_ns"], r
    kernels_us, copies = sum(r["ns"] for r in kernels) / 1000, [r["ns"] for r in rows if r["kind"] != "kernel"]
    said, unit = note(notes, "Computation time (kernels): ").split()
    said_us = float(said) * {"ns": 1e-3, "us": 1, "ms": 1000}[unit]
    assert abs(said_us / kernels_us - 1) < 1e-3, f"{said} {unit}, the truth has {kernels_us} us"
    same(note(notes, "GpuMemcpy: calls ").split(",")[0], str(len(copies)), "copies and sets")


# ---- profile.proto: its fields, told by their numbers ----

NAME, BEGIN, END, DEVICE, STREAM, COPY, KIND, DETAIL = 1, 2, 3, 5, 6, 7, 8, 9


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    at, found = 0, collections.defaultdict(list)
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found[key >> 3].append(value)
    return found


def device_events(data):
    """Returns the events that ran on devices, as {field: value}."""
    events = ({n: v[0] for n, v in fields(e).items()} for e in fields(data)[1])
    return [e for e in events if e.get(KIND) == GPU_KERNEL]


def copied(e):
    return fields(e[COPY])[1][0] if COPY in e else None


def key(r):
    return r["start_ns"], r["end_ns"], r["dev"], r["stream"], r["bytes"] if r["kind"] == "memcpy" else None


@test("profile.proto: activities are the truth's, each below what launched it")
def proto(case):
    tool, truth, rows = recorded(case)
    events = device_events(export(tool, "-f", "paddle-proto"))
    offset = rows[0]["start_ns"] - min(e[BEGIN] for e in events)  # the first of the window is the steps' first
    ours = {(e[BEGIN] + offset, e[END] + offset, e[DEVICE], e[STREAM], copied(e)): e for e in events}
    theirs = {key(r): r for r in truth.rows}
    assert ours.keys() <= theirs.keys(), list(ours.keys() - theirs.keys())[:4]
    of_steps = {key(r) for r in rows}
    assert of_steps <= ours.keys(), list(of_steps - ours.keys())[:4]
    seen = collections.Counter()
    for k, e in ours.items():
        r, own = theirs[k], e.get(DETAIL, e[NAME]).decode()
        if r["kind"] == "kernel":
            same(own, r["name"], "kernel")
        for pattern, operator, *_ in OWNERS:
            if re.search(pattern, own):
                same(e[NAME].decode(), operator, own)
                seen[pattern] += 1
    same(seen.keys(), {pattern for pattern, *_ in OWNERS}, "kinds of kernels")


# ---- fluid.profiler itself ----

ROW = re.compile(r" *(\S.*?) +(\d+) +[\d.e+-]+ +[\d.e+-]+ \([\d.]+\) +([\d.e+-]+) \([\d.]+\) ")


def operator_of(path):
    """Returns the operator in the path of what launched a kernel. The path begins with the outermost."""
    found = [part for part in path.split("/") if part in {operator for _, operator, *_ in OWNERS}]
    return found[-1] if found else None


@test("fluid.profiler on the same job: calls, GPU times and owners of kernels are as many")
def second_opinion(case):
    theirs = case.dir / "profile.proto"
    job = start(case, "--classic", "--profile", theirs)
    job.signal(signal.SIGUSR1)
    process.wait_for(theirs.exists, 60, "fluid.profiler's file")
    tool = record(case, job)
    truth_of(case, job, tool, tool.events())
    steps = tool.report("--table", "summary")["summary"]["rows"][0]["steps"]

    said = collections.defaultdict(lambda: [0, 0])
    for line in job.output().split("Profiling Report")[1].splitlines():  # a second one follows, by thread
        found = ROW.match(line)
        if found:
            said[found[1]][0] += int(found[2])
            said[found[1]][1] += round(float(found[3]) * 1e6)  # ms
    rows, _ = classic(tool, "All")
    for operator in {operator for _, operator, *_ in OWNERS}:
        calls, ns = said[operator]
        same((rows[operator]["calls"] / steps, rows[operator]["gpu_ns"] / steps), (calls / PROFILED, ns / PROFILED),
             f"{operator}: calls and GPU time of a step")

    ours = collections.Counter(e[NAME].decode() for e in device_events(export(tool, "-f", "paddle-proto")))
    want = collections.Counter(operator_of(e[NAME].decode()) for e in device_events(theirs.read_bytes()))
    for operator in {operator for _, operator, *_ in OWNERS}:
        same(ours[operator] / steps, want[operator] / PROFILED, f"{operator}: kernels and copies of a step")


# ---- cuda_profiler ----

PAIR = re.compile(r"(\w+)=\[ (.*?) \] (?=\w+=\[ |$)")


def pairs(text):
    rows = []
    for line in text.splitlines():
        row = {}
        for key, value in PAIR.findall(line):
            row.update(zip((key + axis for axis in "XYZ"), value.split(", ")) if key in ("gridsize", "threadblocksize")
                       else [(key, value)])
        if row:
            rows.append(row)
    return rows


def sheet(text):
    lines = [line for line in text.splitlines(True) if not line.startswith("#")]
    return [{k: v for k, v in r.items() if v} for r in csv.DictReader(io.StringIO("".join(lines)))]


def method_of(r):
    if r["kind"] == "kernel":
        return r["name"]
    return "memset" if r["kind"] == "memset" else f"memcpy{r['name']}{'async' if 'Async' in r['api'] else ''}"


@test("cuda_profiler: kvp and csv have the truth's kernels, copies and sets")
def cuda_profiler(case):
    tool, truth, rows = recorded(case)
    log = pairs(export(tool, "-f", "cuda-profiler").decode())
    same(log, sheet(export(tool, "-f", "cuda-profiler", "--dialect", "csv").decode()), "kvp and csv")
    begins = [int(r["gpustarttimestamp"], 16) for r in log]
    offset = rows[0]["start_ns"] - min(begins)
    theirs = {r["start_ns"]: r for r in truth.rows}
    assert {r["start_ns"] for r in rows} <= {begin + offset for begin in begins}, "activities of the steps are missing"
    for got, begin in zip(log, begins):
        r = theirs[begin + offset]
        same(got["method"], method_of(r), "method")
        same(int(got["gpuendtimestamp"], 16) + offset, r["end_ns"], got["method"])
        same((got["gputime"], got["streamid"]), (f"{r['ns'] / 1000:.3f}", str(r["stream"])), got["method"])
        for key, column in ("gridsize", "grid"), ("threadblocksize", "block"):
            want = r[column].split(",") if r["kind"] == "kernel" else [None] * 3
            same([got.get(key + axis) for axis in "XYZ"], want, got["method"])
