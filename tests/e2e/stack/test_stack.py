# SPDX-License-Identifier: BSD-2-Clause
"""Which line of Python called an operator."""
import collections
import json
import re
import signal
import subprocess

from lib.job import PYTHON, WORKLOADS
from lib.runner import Skip, test
from lib.tool import PROFTRACE, report

CUT = "(outer frames not read)"
FRAME = re.compile(r"(.*)\((\d+)\): (.*)")
OPTIONS = ["--record", "0:3", "--with-stack", "--no-prune", "--no-trace", "--no-report"]


def job_of(case, *args):
    """A job that runs alone. Its outermost frames are from its own file."""
    job = case.job("stacks.py", *args, fresh=True).wait_steps(4)
    return job, json.loads(job.output().splitlines()[0])


def events_of(tool):
    """The events of the recording, parents linked, in the order of their begin."""
    return [r for r in tool.events() if r.get("type") == "span"]


def frames(text):
    """(file, line, function) each, the innermost first."""
    matches = [(FRAME.fullmatch(entry), entry) for entry in text.split(";")]
    return [(m[1], int(m[2]), m[3]) if m else entry for m, entry in matches]


def stacks_by_name(events):
    """The different stacks of each operator, and how often each was seen."""
    by_name = collections.defaultdict(collections.Counter)
    for e in events:
        if "stack" in e:
            by_name[e["name"]][e["stack"]] += 1
    return by_name


def by_file_name(stack):
    """Removes torch's own frames, because the job takes its stack outside of them."""
    return [f if f == CUT else (f[0].rsplit("/", 1)[-1], *f[1:]) for f in stack
            if f == CUT or "torch/" not in f[0]]


def same(ours, theirs):
    """Compares two stacks. proftrace may cut its outer end."""
    ours, theirs = by_file_name(ours), by_file_name(theirs)
    if CUT in ours:
        inner = ours[:ours.index(CUT)]
        return len(inner) == 64 and inner == theirs[:64]
    return ours == theirs


def check_told(case, *options):
    job, want = job_of(case)
    tool = case.tool("-p", job.pid, *OPTIONS, *options).done()
    seen = stacks_by_name(events_of(tool))
    names = collections.Counter(name for name, _ in want)
    assert len(names) == 11, names
    for name, stack in want:
        cnt = sum(n for text, n in seen[name].items() if same(frames(text), stack))
        assert cnt >= 3, f"{name}: {by_file_name(stack)} is none of {list(seen[name])[:4]}"
    job.signal(signal.SIGUSR1)
    assert job.wait(60) == 0, job.err.read_text()
    return tool


@test("each operator's stack is the interpreter's own: files, lines and functions")
def told(case):
    tool = check_told(case)
    stacks = report(tool.recordings()[0])["cost"]
    notes = " ".join(stacks.get("notes", []))
    assert "1 different stack of Python only the 64 innermost frames" in notes, notes
    assert "no stack of Python" not in notes and "could not be read" not in notes, notes


@test("the same at --detail inner, with shapes")
def told_inner(case):
    check_told(case, "--detail", "inner", "--record-shapes")


@test("run, and each window of a schedule: stacks that were first seen before a window")
def windows(case):
    tool = case.tool("run", "--with-stack", "--schedule", "closed=2,record=4,repeat=2", "--no-trace",
                     "--no-report", "--", PYTHON, WORKLOADS / "mlp_train.py", "--steps", 1200).done(120)
    recordings = tool.recordings()
    assert len(recordings) == 2, recordings
    for path in recordings:
        rows = report(path, "--table", "key_averages", "--group-by", "stack")["key_averages"]["rows"]
        # A function that is hot and short has no probe in the window.
        found = [r for r in rows if r["name"].startswith("aten::") and not r["estimated"]]
        assert found and all(r.get("stack") for r in found), (path, found)


def torch_functions(stack):
    """Returns files and functions of torch.profiler's frames, without C functions and modules. The outermost frames
    belong to the profiler's own call."""
    found = []
    for entry in stack:
        match = FRAME.fullmatch(entry)
        if match:
            found.append((match[1].rsplit("/", 1)[-1], match[3]))
    return found[:found.index(("stacks.py", "step")) + 1]


def our_functions(text):
    """The same of ours; torch.profiler has a module for the frame that calls it, and leaves out some
    of the backward pass (torch/autograd/profiler.py, _filter_stack_entry)."""
    found = [(f[0].rsplit("/", 1)[-1], f[2]) for f in frames(text)
             if f[2] != "_wrapped_call_impl" and not f[0].endswith("autograd/__init__.py")]
    return found[:found.index(("stacks.py", "step")) + 1]


@test("on the same step, functions and files of torch.profiler(with_stack=True)")
def profiler(case):
    job, want = job_of(case, "--profiler")
    tool = case.tool("-p", job.pid, *OPTIONS, "--detail", "inner").done()
    rows = report(tool.recordings()[0], "-t", "key_averages", "--group-by", "stack",
                  "--stack-depth", "1000")["key_averages"]["rows"]
    ours = collections.defaultdict(set)
    for r in rows:
        if r["stack"] and r["name"].startswith("aten::"):
            ours[r["name"]].add(tuple(our_functions(r["stack"].replace(" < ", ";"))))
    compared = 0
    for name, stack in want:
        theirs = torch_functions(stack) if any("stacks.py" in s for s in stack) else []
        # torch marks a second `detach` inside the operator of that name. What the engine itself calls
        # beside a node's function, it says, is called by backward(); for us it is the node's.
        if not theirs or name == "aten::detach" or theirs[0] == ("graph.py", "_engine_run_backward"):
            continue
        compared += 1
        assert tuple(theirs) in ours[name], f"{name}: {theirs} is none of {ours[name]}"
    assert compared > 20, compared


@test("backward nodes have the stack of what they differentiate, in tables and trace")
def backward(case):
    job, _ = job_of(case, "--profiler")
    tool = case.tool("-p", job.pid, *[o for o in OPTIONS if o != "--no-trace"]).done()
    path = tool.recordings()[0]
    rows = report(path, "-t", "key_averages", "--group-by", "stack", "--stack-depth",
                  "1")["key_averages"]["rows"]
    line = {r["name"]: r["stack"] for r in rows}
    node = "autograd::engine::evaluate_function: AddmmBackward0"
    assert line[node] == line["aten::linear"], line
    assert re.fullmatch(r"torch/nn/modules/linear.py\(\d+\): forward", line[node]), line
    out = tool.dir / "trace.json"
    subprocess.run([PROFTRACE, "export", "-o", out, path], check=True, capture_output=True)
    stacks = {e["name"]: e["args"].get("Call stack", "")
              for e in json.loads(out.read_text())["traceEvents"] if e.get("ph") == "X"}
    assert stacks[node] == stacks["aten::linear"], stacks
    assert stacks[node].startswith("torch/nn/modules/linear.py("), stacks[node]
    assert re.search(r";stacks.py\(\d+\): <module>;$", stacks[node]), stacks[node]


def raised(case, *options):
    cnt = 10000
    job = case.job("raise_caught.py", "--count", cnt, fresh=True).wait_steps(3)
    tool = case.tool("-p", job.pid, "--no-trace", "--no-report", "--with-stack", "--no-prune",
                     *options).wait_recording()
    job.signal(signal.SIGUSR1)
    status = job.wait(400)
    tool.done()
    assert status == 0, f"the job ended with {status}: {job.err.read_text()}"
    return job.output(), tool


@test("10 000 errors of each kind, raised and caught: the job's result is the same")
def errors(case):
    outputs = []
    for options in ((), ("--detail", "inner")):
        output, tool = raised(case, *options)
        outputs.append(output)
        seen = stacks_by_name(events_of(tool))["aten::mm"]
        assert sum(seen.values()) >= 10000, seen
        assert any("raise_all" in text for text in seen), list(seen)[:2]
    alone = case.job("raise_caught.py", "--count", 10000, fresh=True).wait_steps(1)
    alone.signal(signal.SIGUSR1)
    assert alone.wait(400) == 0, alone.err.read_text()
    assert outputs == [alone.output()] * 2, (outputs, alone.output())


def interpreters():
    """Returns other Python versions that are installed here."""
    import glob
    import os
    found = {}
    for path in glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")) + [
            "/usr/bin/python3", PYTHON]:
        done = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], text=True,
                              capture_output=True)
        if done.returncode == 0:
            found.setdefault(tuple(map(int, done.stdout.split())), path)
    return found


@test("CPython 3.10 to 3.15, as far as they are installed: getpid's callers")
def versions(case):
    found = {v: p for v, p in interpreters().items() if (3, 10) <= v <= (3, 15)}
    if not found:
        raise Skip("no such interpreter")
    for version, python in found.items():
        job = case.job("callers.py", python=python, fresh=True).wait_steps(2)
        tool = case.tool("-p", job.pid, "-d", "500ms", "--with-stack", "--op", "libc.so*:getpid",
                         "--no-trace", "--no-report").done()
        seen = {tuple(frames(t)) for t in stacks_by_name(events_of(tool))["getpid"]}
        for stack in json.loads(job.output().splitlines()[0]):
            assert any(same(s, stack) for s in seen), f"{version}: {stack} is none of {seen}"
        job.stop()
        print("stacks of Python", *version, flush=True)


@test("a version without known frames: said once, the recording goes on")
def unknown(case):
    old = {v: p for v, p in interpreters().items() if v < (3, 10)}
    if not old:
        raise Skip("no Python before 3.10")
    job = case.job("callers.py", python=min(old.items())[1], fresh=True).wait_steps(2)
    tool = case.tool("-p", job.pid, "-d", "300ms", "--with-stack", "--op", "libc.so*:getpid",
                     "--no-trace").done()
    assert "its frames are known of Python 3.10 to 3.15; not shown: stacks of Python" in tool.out, \
        tool.out
    assert sum(e["name"] == "getpid" for e in events_of(tool)) > 3
