# SPDX-License-Identifier: BSD-2-Clause
"""--inject: operators that the library in the process sees through pointers."""
import signal

import job
import test_raise
from lib import process
from lib.astray import Data, kill_in_windows, seen
from lib.runner import test
from test_truth import PHASES, STEPS, check_operators, check_phases, operators

LONG_S = 60


OF_ANY_STEP = "--max-overhead", "0.01%"  # allows steps of any length, as in pointers/pointer_hooks.py


def record(case, running, *options, window=f"2:{2 + STEPS}"):
    return case.tool("-v", "-p", running.pid, "--inject", "--record", window, "--no-trace", *options)


def unseen(tool):
    """Operators that have probes, as -v names them."""
    return [line for line in tool.err.splitlines() if "calls by probes" in line]


def same(case, *args):
    running, path = job.train(case, *args)
    data = Data(running.pid)
    tool = record(case, running, "--no-prune").done(LONG_S)
    seen(tool)
    assert not unseen(tool), unseen(tool)
    data.check()
    tables = tool.report()
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]
    check_operators(tables, job.profile(running, path))
    cost, = tables["cost"]["rows"]
    # Updates of parameters mark the steps if nothing else does. They have probes.
    updates = sum(cnt for name, cnt in operators(tables).items() if name in ("adam_ dygraph", "momentum_ dygraph"))
    assert cost["noted_calls_per_step"] == sum(operators(tables).values()) - updates, cost
    running.wait_steps(3)
    return tables


@test("the library sees the operators and nodes that paddle.profiler counts, Adam")
def adam(case):
    check_phases(same(case), "Dataloader", *PHASES)


@test("the library sees the operators and nodes that paddle.profiler counts, Momentum, 2 loader processes")
def momentum(case):
    same(case, "--optimizer", "Momentum", "--workers", 2)


@test("with --no-prune, however little of a step probes add")
def no_prune(case):
    running, _ = job.train(case, "--clip-ms", 100)
    seen(record(case, running, "--no-prune").done(LONG_S))


@test("errors caught while the library sees the operators")
def errors(case):
    tables = test_raise.raise_under(case, "--no-prune", "--inject", "-v")
    test_raise.check_operators(tables)
    assert tables["cost"]["rows"][0]["noted_calls_per_step"] > 0, tables["cost"]


@test("proftrace killed while the library sees the operators, and attached anew")
def killed(case):
    kill_in_windows(case, job.train(case)[0])


@test("the job ends while the library sees the operators")
def ends(case):
    running, _ = job.train(case, "--workers", 2)
    tool = record(case, running, *OF_ANY_STEP, window="0:1000000000")
    seen(tool.wait_recording(LONG_S))
    running.wait_steps(3)
    running.stop()
    tool.done(LONG_S)
    found = {row["name"] for row in tool.report()["operator"]["rows"]}
    assert "conv2d dygraph" in found and any(name.endswith("GradNodeFinal") for name in found), found


class Twins:
    """The same training twice, once with proftrace. Both must have the same losses."""

    def __init__(self, case, *args):
        self.files = [case.dir / f"losses{i}" for i in range(2)]
        self.watched, self.alone = (job.start(case, "paddle_train.py", "--losses", path, *args) for path in self.files)
        for running in (self.watched, self.alone):
            running.wait_steps(10)
        self.alone.signal(signal.SIGSTOP)  # otherwise it would take processor time from the other one

    def losses(self):
        return [path.read_text().split("\n")[:-1] for path in self.files]

    def end(self):
        """The recorded one must end by itself, like the other one."""
        self.watched.signal(signal.SIGTERM)
        assert self.watched.wait(LONG_S) == 0, self.watched.err.read_text()
        self.alone.signal(signal.SIGCONT)
        process.wait_for(lambda: len(self.losses()[0]) <= len(self.losses()[1]), 2 * LONG_S, "the other one")
        watched, alone = self.losses()
        assert len(set(watched)) > 20, watched
        first = next((i for i, pair in enumerate(zip(watched, alone)) if pair[0] != pair[1]), None)
        assert first is None, f"step {first} of {len(watched)}: {watched[first]} instead of {alone[first]}"


def results(case, times, *args):
    """Records windows in turn. The job ends within the last window."""
    twins = Twins(case, *args)
    data = Data(twins.watched.pid)
    for _ in range(times):
        seen(record(case, twins.watched, *OF_ANY_STEP).done(LONG_S))
        data.check()
    tool = record(case, twins.watched, *OF_ANY_STEP, window="0:1000000000")
    seen(tool.wait_recording(LONG_S))
    twins.watched.wait_steps(10)
    twins.end()
    tool.done()


@test("ten times in turn, and ended within a window: each loss is that of a job alone, to the last bit; AdamW")
def adamw(case):
    results(case, 10, "--net", "mlp", "--optimizer", "AdamW")


@test("losses of a job alone: SGD")
def sgd(case):
    results(case, 2, "--optimizer", "SGD")


@test("losses of a job alone: around a program, whose operators have probes")
def to_static(case):
    results(case, 2, "--mode", "to_static")


@test("static: the library would see nothing, stays out, and says why")
def static(case):
    running, path = job.train(case, "--mode", "static")
    tool = record(case, running, "--no-prune").done(LONG_S)
    assert tool.said("capture.library-stays-out", "steps call no operator"), tool.err
    assert not any("libproftrace" in m[4] for m in process.mappings(running.pid))
    check_operators(tool.report(), job.profile(running, path))
