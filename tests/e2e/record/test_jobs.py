# SPDX-License-Identifier: BSD-2-Clause
"""The main command on the jobs that people have."""
import re
import signal
import time

import sense
from lib.ctl import obeyed, wait_state
from lib.job import PYTHON
from lib.process import changed_text, wait_for
from lib.runner import Skip, test
from lib.tool import calls, report

TABLES = ["Model Summary", "Operator Summary"]


def record(case, job):
    """Records with `proftrace -p PID --record 2:10`, as a user types it. Returns the tables."""
    tool = case.tool("-p", job.pid, "--record", "2:10").done()
    recording, trace = (tool.dir / name for name in sense.default_names(job.pid))
    assert sense.titles(tool.out) == TABLES, tool.out
    sense.check_text(tool.out)
    assert re.search(r"^perf: batch_cost \S+ .s \(.* to .*\)(, reader_cost .*)?, ips .* steps/s$", tool.out, re.M)
    assert re.search(r"^more tables: --table overview\S*, or --table all$", tool.out, re.M), tool.out
    assert tool.said("cli.recording-written", recording.name) and tool.said("cli.trace-written", trace.name), tool.err
    assert tool.messages()[-1].is_of("cli.page-offered", [recording.name]), tool.err
    # The live command runs the offline code.
    again = case.tool("report", recording).done()
    assert again.out == tool.out
    events = sense.check_trace(trace, 8)
    tables = report(recording)
    sense.check(tables, 8)
    operators = sense.by_name(tables, "overview", "event_type")["Operator"]["calls"]
    in_trace = sum(e["cat"] == "cpu_op" for e in events)
    # The trace has the whole recording. The tables have only what lies in steps.
    assert operators <= in_trace <= 1.3 * operators + 50, (operators, in_trace)
    wait_for(lambda: not changed_text(job.pid), 10, "the text to be as before")
    job.wait_steps(3)
    return tables


def check_phases(tables, *names):
    model = sense.by_name(tables, "model")
    for name in names:
        # At the end of an epoch the loader is asked a second time.
        assert model[name]["calls"] - 8 in ((0, 1) if name == "Dataloader" else (0,)), model
    assert model["Others"]["cpu_ratio_percent"] < 35, model
    return model


@test("main command: CNN, DataLoader without workers, SGD")
def cnn_sgd(case):
    tables = record(case, case.job("train.py").wait_steps(3))
    check_phases(tables, "Dataloader", "Forward", "Backward", "Optimization")
    assert "Reader Ratio: " in " ".join(tables["perf"]["notes"])
    assert "DataLoader" in sense.rows(tables, "summary")[0]["step_rule"]
    # Ten convolutions a step, forward and back.
    assert calls(tables, "aten::conv2d") == 80
    assert calls(tables, "autograd::engine::evaluate_function: ConvolutionBackward0") == 80
    assert sense.by_name(tables, "userdefined")["Optimizer.zero_grad#SGD.zero_grad"]["calls"] == 8


@test("main command: CNN, DataLoader with 2 workers, Adam")
def cnn_workers(case):
    job = case.job("train.py", "--workers", 2, "--optimizer", "adam").wait_steps(3)
    tables = record(case, job)
    check_phases(tables, "Dataloader", "Forward", "Backward", "Optimization")
    assert sense.by_name(tables, "userdefined")["Optimizer.zero_grad#Adam.zero_grad"]["calls"] == 8
    # Only the worker processes call this operator, for four samples a batch.
    assert calls(tables, "aten::randn") >= 16, "the workers are missing"
    assert any("worker processes" in note for note in tables["overview"]["notes"]), tables
    threads = report(next(case.dir.glob("tool*/*.ptrec")), "--by-thread")
    found = sense.sections(threads)
    main = [rows for title, rows in found.items() if str(job.pid) in title]
    assert sum(r["calls"] for rows in main for r in rows) == \
        sense.by_name(tables, "overview", "event_type")["Operator"]["calls"], found.keys()
    assert len(found) - len(main) == 2, found.keys()


@test("main command: CNN, DataLoader without workers, Adam, shapes and memory")
def cnn_adam(case):
    job = case.job("train.py", "--optimizer", "adam").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "2:6", "--record-shapes", "--profile-memory",
                     "--detail", "inner").done()
    tables = tool.report()
    sense.check(tables, 4)
    memory = sense.rows(tables, "memory")
    assert all(r["increase_bytes"] == r["alloc_bytes"] - r["free_bytes"] for r in memory), memory
    assert any(r["name"] == "aten::empty" and r["alloc_cnt"] for r in memory) or memory, memory
    events = sense.check_trace(next(tool.dir.glob("*.json.gz")), 4)
    convolutions = [e for e in events if e["name"] == "aten::conv2d"]
    assert convolutions[0]["args"]["Input Dims"][0] == [4, 3, 32, 32], convolutions[0]
    assert convolutions[0]["args"]["Input type"][0] == "float", convolutions[0]
    # Operators called inside another one stand under their caller.
    text = case.tool("report", "--op-detail", "--table", "operator", "--width", 100,
                     tool.recordings()[0]).done().out
    sense.check_text(text, 100)
    assert re.search(r"^aten::conv2d .*\n  aten::convolution ", text, re.M), text


@test("main command: transformer without a loader")
def transformer(case):
    tables = record(case, case.job("train.py", "--model", "transformer").wait_steps(3))
    model = check_phases(tables, "Forward", "Backward", "Optimization")
    assert "Dataloader" not in model, model
    assert "Optimizer.step" in sense.rows(tables, "summary")[0]["step_rule"]
    assert "reader_cost" not in sense.by_name(tables, "perf")


SHORT = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(32, 32) for _ in range(3)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 32)).sum().backward()
    optimizer.step()
"""


@test("run of a program that is over after three steps: --no-steps has all of it, and is what it is sent to")
def short(case):
    program = case.dir / "short.py"
    program.write_text(SHORT)
    case.tool("run", "--record", "2:10", "--", PYTHON, program).fails("capture.window-target-ended-soon")
    tool = case.tool("run", "--no-steps", "--no-trace", "--record-shapes", "--", PYTHON, program).done(120)
    assert "missing:" not in tool.err, tool.err
    assert tool.said("cli.target-ended"), tool.err
    tables = tool.report()
    assert sense.rows(tables, "summary")[0]["step_rule"] == "none was looked for (--no-steps)"
    assert calls(tables, "aten::linear") == 9 and calls(tables, "aten::sum") == 3, tool.err
    assert re.search(r"the program stood still for \d+ ms until its probes were in", tool.err), tool.err
    parts = sense.by_name(tables, "model")
    assert [parts[p]["calls"] for p in ("Forward", "Backward", "Optimization")] == [3, 3, 3], parts
    assert sum(r["cpu_total_ns"] for n, r in parts.items() if n != "Window") < 1.01 * parts["Window"]["cpu_total_ns"]
    case.tool("run", "--no-steps", "--record", "2:10", "--", PYTHON, program).fails("cli.no-steps-excludes", "--record")


@test("run --no-steps --dump-every: the first window alone says that the program stood still")
def held_once(case):
    program = case.dir / "sleeps.py"
    program.write_text(SHORT + "import time\ntime.sleep(2)\n")
    tool = case.tool("run", "--no-steps", "--dump-every", "500ms", "--no-trace", "--", PYTHON, program).done(120)
    told = ["the program stood still" in str(report(path)) for path in tool.recordings()]
    assert len(told) > 1 and sum(told) == 1, (told, tool.err)


KINDS = """
import random, time, torch
random.seed(1)
end = time.time() + 9
while time.time() < end:
    with torch.inference_mode(), torch.profiler.record_function("request"):
        for _ in range(random.randint(1, 5)):
            random.choice([torch.sin, torch.cos, torch.tanh, torch.relu])(torch.ones(8))
    time.sleep(0.002 + random.random() / 500)
"""


@test("a server with requests of several kinds: its range is named where no order repeats")
def kinds(case):
    program = case.dir / "kinds.py"
    program.write_text(KINDS)
    case.tool("run", "--record", "0:4", "--step-timeout", "5s", "--", PYTHON, program).fails(
        "capture.steps-irregular-suggested*", "--step-range request")


@test("inference without a loader: the period of its calls")
def inference(case):
    job = case.job("train.py", "--infer").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "2:10").done()
    tables = tool.report()
    sense.check_text(tool.out)
    sense.check(tables, 8)
    rule = sense.rows(tables, "summary")[0]["step_rule"]
    assert "operator period" in rule and f"calls of thread {job.pid}" in rule, tool.out
    assert "each step opens at aten::" in rule, tool.out
    assert calls(tables, "aten::conv2d") == 80
    assert "model" not in tables and "No data loader was seen" in tool.out, tool.out
    device = sense.by_name(tables, "device", "device")
    # It sleeps most of the time, and computes with one thread.
    assert device["CPU(Process)"]["utilization_percent"] < 101, tool.out


@test("inference without a loader, --detail phase and --timer-only: operators are looked at to learn alone")
def inference_phase(case):
    job = case.job("train.py", "--infer").wait_steps(3)
    for option, detail in (("--detail=phase", "phase"), ("--timer-only", "timer")):
        before = len(job.steps())
        tool = case.tool("-p", job.pid, option, "--record", "2:10", "--no-trace").done()
        job.wait_steps(1)
        tables = tool.report()
        summary = sense.rows(tables, "summary")[0]
        assert (summary["steps"], summary["detail"]) == (8, detail), summary
        assert "operator period" in summary["step_rule"], summary
        own = sorted(job.steps()[before:])
        batch_ns = sense.by_name(tables, "perf")["batch_cost"]["avg"] * 1e9
        assert own[0] * 0.9 < batch_ns < own[-1] * 1.1, (batch_ns, own)
        # The range's begin and its end.
        assert sense.rows(tables, "cost")[0]["hits_per_step"] == 2, tables["cost"]


SERVER = """
import signal, threading, time
import torch
torch.set_num_threads(1)
apart = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: apart.set())
model = torch.nn.Sequential(torch.nn.Linear(512, 512), *(torch.nn.ReLU() for _ in range(8)))
def serve(later_ms):
    with torch.inference_mode():
        while True:
            model(torch.ones(64, 512)).softmax(-1)
            time.sleep(later_ms / 1e3 if apart.is_set() else 0.005)
threading.Thread(target=serve, args=(30,), daemon=True).start()
print("ready", flush=True)
serve(2)
"""


@test("two threads that serve, and then one more than the other: what has no probe is estimated of both")
def shared_requests(case):
    program = case.dir / "server.py"
    program.write_text(SERVER)
    job = case.job(program, fresh=True)
    wait_for(lambda: "ready" in job.output(), 60, "the job")
    tool = case.tool("-p", job.pid, "--duration", "2s", "--paused", "--no-trace")
    wait_state(job, "state: paused")
    job.signal(signal.SIGUSR1)
    obeyed(job, "start")
    rows = sense.rows(tool.done().report(), "operator")
    relu, = (r for r in rows if r["name"] == "aten::relu")
    softmax, = (r for r in rows if r["name"] == "aten::softmax")
    assert relu["estimated"], rows  # softmax has a probe where the budget, of run time, allows it
    assert abs(relu["calls"] / softmax["calls"] - 8) < 2, (relu, softmax)


HOOKED = """
import itertools, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(16)))
steps = itertools.count()
accumulates = model[0].bias.view_as(model[0].bias).grad_fn.next_functions[0][0]
accumulates.register_hook(lambda *_: time.sleep(next(steps) % EVERY == 0 and 0.01))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
while True:
    optimizer.zero_grad()
    model(torch.ones(8, 8)).sum().backward()
    optimizer.step()
    print("step", flush=True)
"""


def accumulated(case, every):
    """AccumulateGrad's row, of 32 a step, one of which takes 10 ms in one of so many steps."""
    program = case.dir / "hooked.py"
    program.write_text(HOOKED.replace("EVERY", str(every)))
    job = case.job(program, fresh=True)
    wait_for(lambda: job.output().count("step") > 3, 60, "the job")
    rows = sense.rows(case.tool("-p", job.pid, "--record", "2:12", "--no-trace").done().report(), "operator")
    accumulate, = (r for r in rows if r["name"].endswith("AccumulateGrad"))
    assert accumulate["calls"] == 320, accumulate
    return accumulate, rows


@test("a short function that is long in every other step: what is estimated of it is whole")
def long_sometimes(case):
    accumulate, rows = accumulated(case, 2)
    assert accumulate["estimated"], rows
    assert 25 <= accumulate["cpu_total_ns"] / 1e6 < 150, accumulate


@test("a short function that is long once in each step is recorded, and no other node has its time")
def long_once(case):
    accumulate, rows = accumulated(case, 1)
    assert not accumulate["estimated"], rows
    assert 100 <= accumulate["cpu_total_ns"] / 1e6 < 200, accumulate
    others = [r for r in rows if "evaluate_function" in r["name"] and r is not accumulate]
    assert others and all(r["cpu_total_ns"] < accumulate["cpu_total_ns"] / 2 for r in others), rows


# Many short nodes, and some that are long enough to stay; HOOK: something on each tensor.
NODES = """
import time, torch
torch.set_num_threads(1)
layer, head = torch.nn.Linear(16, 16), torch.nn.Linear(16, 2000)
def hook(grad):
    time.sleep(0.0005)
    return grad.mul(1.0)
while True:
    x = torch.ones(64, 16)
    for _ in range(24):
        x = torch.sigmoid(layer(x)) * x + x
        if HOOK:
            x.register_hook(hook)
    torch.log_softmax(head(x), -1).mean().backward()
    for p in (*layer.parameters(), *head.parameters()):
        p.grad = None
    print("step", flush=True)
"""


def same_rows(case, hook):
    """The default has the rows of --no-prune, and of the nodes that it recorded and that have 10 % of the steps
    the times. What it estimates is of other steps, few of them."""
    program = case.dir / "nodes.py"
    program.write_text(NODES.replace("HOOK", str(hook)))
    job = case.job(program, fresh=True)
    wait_for(lambda: job.output().count("step") > 3, 60, "the job")
    times, calls = [], []
    for options in ((), ("--no-prune",)):
        tables = case.tool("-p", job.pid, "--record", "2:22", "--no-trace", *options).done().report()
        steps_ns = 20e9 * sense.by_name(tables, "perf")["batch_cost"]["avg"]
        rows = sense.rows(tables, "operator")
        times.append({r["name"]: r["cpu_total_ns"] / steps_ns for r in rows
                      if not r["estimated"]})
        calls.append({r["name"]: r["calls"] for r in rows})
    assert calls[0] == calls[1], calls
    for name, share in times[0].items():
        if "evaluate_function" in name and max(share, times[1][name]) > 0.1:
            assert 0.4 < share / times[1][name] < 2.5, (name, times)


@test("nodes that are recorded do not have the time of many that are not")
def time_of_others(case):
    same_rows(case, False)


@test("what hooks of tensors take is in their nodes, and their operators are no rows, estimated ones neither")
def tensor_hooks(case):
    same_rows(case, True)


QUICK = """
import threading
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), *(torch.nn.ReLU() for _ in range(8)))
def serve():
    with torch.inference_mode():
        while True:
            model(torch.ones(4, 64)).softmax(-1)
threading.Thread(target=serve, daemon=True).start()
print("ready", flush=True)
serve()
"""


@test("two threads that answer all the time: calls in the window, and other threads' steps in it")
def quick_requests(case):
    program = case.dir / "quick.py"
    program.write_text(QUICK)
    job = case.job(program, fresh=True)
    wait_for(lambda: "ready" in job.output(), 60, "the job")
    tool = case.tool("-p", job.pid, "--record", "200:1200", "--no-trace").done()
    tables = tool.report()
    counted = sense.by_name(tables, "operator")
    kept = {n: r["calls"] for n, r in counted.items() if not r["estimated"]}
    assert "aten::relu" in counted and "aten::relu" not in kept and kept, counted
    requests = max(kept.values())
    assert abs(counted["aten::relu"]["calls"] / 8 / requests - 1) < 0.05, counted
    beside = int(re.search(r"; (\d+)\s+that\s+other\s+threads", tool.out)[1])
    assert abs(beside / (requests - 1000) - 1) < 0.02, (beside, requests)


TWO_TRAIN = """
import threading
import torch
torch.set_num_threads(1)
def train(width):
    model = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    while True:
        optimizer.zero_grad()
        model(torch.ones(64, width)).sum().backward()
        optimizer.step()
threading.Thread(target=train, args=(512,), daemon=True).start()
print("ready", flush=True)
train(256)
"""


@test("two threads that train: no backward node ends with the other thread's pass")
def two_train(case):
    program = case.dir / "two_train.py"
    program.write_text(TWO_TRAIN)
    job = case.job(program, fresh=True)
    wait_for(lambda: "ready" in job.output(), 60, "the job")
    tool = case.tool("-p", job.pid, "--record", "2:82", "--detail", "inner", "--no-trace").done()
    assert "overlapped another" not in tool.out, tool.out
    assert "that other threads of this process begin" in " ".join(tool.out.split()), tool.out


@test("inference that turns into training: the period of its calls is doubted")
def then_trains(case):
    job = case.job("train.py", "--infer", "--then-train").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "2:100000", "--no-trace").wait_recording()
    job.signal(signal.SIGUSR1)
    job.wait_steps(40)
    tool.interrupt().done()
    assert "these may be no steps (record again)" in tool.out, tool.out


@test("inference that is traced first: what repeats then makes no steps")
def traced_first(case):
    job = case.job("train.py", "--infer", "--trace-first")
    wait_for(lambda: "tracing" in job.output() or job.poll() is not None, 60, "the tracing")
    if "not yet supported for torch.compile" in job.err.read_text():
        raise Skip("this PyTorch compiles nothing on this Python")
    tool = case.tool("-p", job.pid, "--record", "2:10")
    time.sleep(10)
    assert not tool.recordings(), tool.err
    job.signal(signal.SIGUSR1)
    tables = tool.done().report()
    assert sense.rows(tables, "summary")[0]["steps"] == 8, tool.out
    assert calls(tables, "aten::conv2d") == 80, tool.out


@test("evaluation: the ask that ends an epoch is no step")
def evaluation(case):
    for options in [], ["--handler"], ["--workers", 2]:
        job = case.job("evaluate.py", *options).wait_steps(3)
        tool = case.tool("-p", job.pid, "--record", "2:42").done()
        tables = tool.report()
        sense.check(tables, 40)
        assert "asked for a batch" in sense.rows(tables, "summary")[0]["step_rule"], tool.out
        # 10 epochs of 4 batches of 2 layers each, and of 5 asks; a batch sleeps for 8 ms.
        assert calls(tables, "aten::linear") == 80, (options, calls(tables, "aten::linear"))
        model = sense.by_name(tables, "model")
        assert model["Dataloader"]["calls"] in (50, 51), (options, model)
        assert model["ProfileStep"]["cpu_min_ns"] > 8e6, (options, model)
        cost = sense.rows(tables, "cost")[0]  # each step sleeps
        assert 0 < cost["tracepoints_per_step_ns"] < cost["added_per_step_ns"], cost


@test("a thread that starts while it is recorded")
def later_thread(case):
    job = case.job("train.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--duration", "2s").wait_recording()
    job.signal(signal.SIGUSR1)
    tables = tool.done().report()
    assert calls(tables, "aten::atan") > 50
    text = case.tool("report", "--by-thread", "--table", "operator", tool.recordings()[0]).done().out
    section = text.split("aten::atan")[0].rsplit("Thread: ", 1)[1]
    assert str(job.pid) not in section.splitlines()[0].split("/")[-1], section


@test("torch that is imported after the attach")
def later_library(case):
    job = case.job("train.py", "--late", fresh=True)
    wait_for(lambda: "waiting" in job.output(), 20, "the job")
    tool = case.tool("-p", job.pid, "--record", "2:10")
    time.sleep(1.5)
    assert tool.popen.poll() is None, f"proftrace did not wait: {tool.err}"
    job.signal(signal.SIGUSR1)
    tables = tool.done(120).report()
    sense.check(tables, 8)
    assert calls(tables, "aten::conv2d") == 80


NODE = "autograd::engine::evaluate_function: "


@test("backward nodes at the default detail last no longer than with a probe on each")
def nodes(case):
    job = case.job("mlp_train.py", "--no-loader").wait_steps(3)
    times = []
    for option in [], ["--no-prune"]:
        tables = case.tool("-p", job.pid, "--record", "2:102", "--no-trace", *option).done().report()
        times.append({row["name"]: row["cpu_total_ns"] / row["calls"] for row in sense.rows(tables, "operator")
                      if row["name"].startswith(NODE)})
        job.wait_steps(len(job.steps()) + 1)
    # Each operator is shown or estimated as before, when all had probes.
    assert times[0].keys() == times[1].keys(), times
    assert all(ns < 3 * times[1][name] + 20000 for name, ns in times[0].items()), times
