# SPDX-License-Identifier: BSD-2-Clause
"""Lets a test drive a workload step by step, over its standard input and output.

A workload defines one training or inference step and hands it to serve(). Commands, one a line:

    run N            N steps; 0: until the next command arrives
    shapes N FILE    N steps under torch.profiler, with shapes; its raw events go to FILE as JSON
    profile N FILE   the same without shapes, which cost time
    watched FILE     steps under torch.profiler until the next command arrives, a few at a time and
                     then a pause; the raw events of the latest few seconds go to FILE
    averages N FILE  N steps under torch.profiler, with shapes and memory: its own key_averages() by
                     name, by name and shapes, and its sums of events with the same callers
    everything       as `watched`, with shapes and memory; the events are kept for
    between N N FILE what `averages` says of kept events that begin between two times on the wall
                     clock, in nanoseconds
    cost             nanoseconds that torch.profiler adds to an operator, measured on a small one
    stamps FILE      what was noted since the last `stamps`: steps, and phases if the workload has any
    quit

Each is answered by one line of JSON. The workload itself knows nothing of proftrace.
"""
import collections
import inspect
import json
import math
import os
import select
import sys
import threading
import time

import torch
from torch.autograd.profiler_util import EventList, FunctionEventAvg, MemRecordsAcc
from torch.profiler import ProfilerActivity, profile

from notes import Notes

WARMUP_STEPS = 5
MEMORY = "[memory]"  # Kineto's name of what was allocated or freed
COST_RUNS, COST_CALLS = 50, 100
WATCHED_STEPS, WATCHED_ROUNDS, WATCHED_PAUSE_S = 8, 10, 0.4
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")


def _tree_times(tree, into):
    """Correlation id -> begin and end in nanoseconds, by the profiler's tree of events."""
    for node in tree:
        into[node.correlation_id] = (node.start_time_ns, node.end_time_ns)
        _tree_times(node.children, into)
    return into


def _times_ns(results):
    """Begin and end of each event. Before 2.4 they have whole microseconds, too few to tell what is
    inside what; the tree has all."""
    events = results.events()
    if not events or hasattr(events[0], "start_ns"):
        return [(e.start_ns(), e.start_ns() + e.duration_ns()) for e in events]
    exact = _tree_times(results.experimental_event_tree(), {})
    return [exact[e.correlation_id()] for e in events]


class _Exact:
    """An event of Kineto's, with times since the trace began: exact in nanoseconds, and in
    microseconds, whole ones or not."""

    def __init__(self, event, begin_ns, end_ns):
        self.event, self.begin_ns, self.stop_ns = event, begin_ns, end_ns

    def __getattr__(self, name):
        return getattr(self.event, name)

    def start_ns(self):
        return self.begin_ns

    def end_ns(self):
        return self.stop_ns

    def duration_ns(self):
        return self.stop_ns - self.begin_ns

    def start_us(self):
        return self.begin_ns / 1e3

    def duration_us(self):
        return self.duration_ns() / 1e3


class _ExactResults:
    """What a profiler makes its averages of, as such events."""

    def __init__(self, results):
        has_ns = hasattr(results, "trace_start_ns")
        zero_ns = results.trace_start_ns() if has_ns else results.trace_start_us() * 1000
        # Of memory whole microseconds are all that is told before 2.4.
        self.made = [_Exact(event, begin_ns - zero_ns, end_ns - zero_ns)
                     for event, (begin_ns, end_ns) in zip(results.events(), _times_ns(results))
                     if has_ns or event.name() != MEMORY]

    def trace_start_ns(self):
        return 0

    trace_start_us = trace_start_ns

    def events(self):
        return self.made


def _function_events(profiler):
    """A profiler's events, as it makes its averages of them, by exact times. Before 2.4 it has whole
    microseconds: an operator that is the only one in another of its name is taken for the same, but
    not if it seems to end behind it (aten::div_ in aten::div_ then counts as two calls). Later ones
    look for what was allocated in an event by microseconds since 1970, which floats tell to a
    quarter of one."""
    if "start_us" not in inspect.signature(MemRecordsAcc.in_interval).parameters:
        return profiler.function_events
    events = EventList(profiler._parse_kineto_results(_ExactResults(profiler.kineto_results)))
    events._build_tree()
    return events


def _shapes(event):
    """Those of a list of tensors are told since PyTorch 2.15; before, a list is []."""
    structured = getattr(event, "structured_input_shapes", None)
    return structured() if structured else event.shapes()


def _values(event):
    """Arguments that are numbers or lists of them; None: others. Told since PyTorch 2.1."""
    told = getattr(event, "concrete_inputs", None)
    return told() if told else []


def _raw_events(prof):
    """Kineto's events as they were recorded: key_averages() and friends already merge some."""
    results = prof.profiler.kineto_results
    return [
        {
            "name": event.name(),
            "begin_ns": begin_ns,
            "end_ns": end_ns,
            "tid": event.device_resource_id(),
            "shapes": _shapes(event),
            "dtypes": event.dtypes(),
            "values": _values(event),
            "flops": event.flops(),
            "sequence": event.sequence_nr(),
        }
        for event, (begin_ns, end_ns) in zip(results.events(), _times_ns(results))
    ]


def _write(path, data):
    with open(path, "w") as file:
        json.dump(data, file)


def _is_command_waiting():
    return bool(select.select([sys.stdin], [], [], 0)[0])


def _operator_ns():
    """One of the cheapest operators; the least of many runs, for the machine may be busy."""
    x = torch.zeros(1)
    best = math.inf
    for _ in range(COST_RUNS):
        begin = time.perf_counter_ns()
        for _ in range(COST_CALLS):
            x.zero_()
        best = min(best, (time.perf_counter_ns() - begin) / COST_CALLS)
    return best


def _callers(event):
    """Names of the events around it, the innermost first."""
    names = []
    while (event := event.cpu_parent) is not None:
        names.append(event.name)
    return names


def _row(average):
    return {
        "name": average.key,
        "calls": average.count,
        "cpu_total_ns": round(average.cpu_time_total * 1000),
        "self_cpu_ns": round(average.self_cpu_time_total * 1000),
        "cpu_memory_bytes": average.cpu_memory_usage,
        "self_cpu_memory_bytes": average.self_cpu_memory_usage,
        "total_flops": average.flops,
    }


def _key_averages(events):
    """Rows of the profiler's averages; by callers, which it has of Python only, its sums of the
    events with the same ones."""
    marks = collections.Counter()  # beginnings and ends between which an event's own time lies
    for event in events:
        marks[event.key] += 1 + len(event.cpu_children)
    by_name = [{**_row(a), "marks": marks[a.key]} for a in events.key_averages()]
    by_shape = [{**_row(a), "input_shapes": a.input_shapes}
                for a in events.key_averages(group_by_input_shapes=True)]
    stacks = collections.defaultdict(FunctionEventAvg)
    for event in events:
        stacks[(event.key, *_callers(event))].add(event)
    by_stack = [{**_row(a), "callers": key[1:]} for key, a in stacks.items()]
    return {"name": by_name, "shape": by_shape, "stack": by_stack}


class _Server:
    def __init__(self, step, notes):
        self.step = step
        self.notes = notes
        self.kept = []
        self.stat = os.open("/proc/self/stat", os.O_RDONLY)

    def cpu_ns(self):
        """utime + stime of the process, as /proc has them: in ticks."""
        fields = os.pread(self.stat, 4096, 0).rsplit(b")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * TICK_NS

    def run(self, count):
        done = 0
        begin = time.monotonic_ns()
        while done < count or (count == 0 and not _is_command_waiting()):
            step_begin = time.monotonic_ns()
            self.step()
            self.notes.steps.append((step_begin, time.monotonic_ns(), self.cpu_ns()))
            done += 1
        return {"steps": done, "begin_ns": begin, "end_ns": time.monotonic_ns()}

    def profiled(self, count, shapes=False):
        with profile(activities=[ProfilerActivity.CPU], record_shapes=shapes,
                     with_flops=shapes) as prof:
            result = self.run(count)
        return result, _raw_events(prof)

    def profile(self, count, path, shapes=False):
        result, events = self.profiled(count, shapes)
        _write(path, events)
        return result

    def watched(self, path):
        rounds = collections.deque(maxlen=WATCHED_ROUNDS)
        while not _is_command_waiting():
            rounds.append(self.profiled(WATCHED_STEPS)[1])
            time.sleep(WATCHED_PAUSE_S)
        _write(path, [event for events in rounds for event in events])
        return {}

    def all_profiled(self, count):
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                     profile_memory=True, with_flops=True) as prof:
            result = self.run(count)
        return result, prof.profiler

    def averages(self, count, path):
        result, profiler = self.all_profiled(count)
        _write(path, _key_averages(_function_events(profiler)))
        return result

    def everything(self):
        self.kept = collections.deque(maxlen=WATCHED_ROUNDS)
        while not _is_command_waiting():
            self.kept.append(self.all_profiled(WATCHED_STEPS)[1])
            time.sleep(WATCHED_PAUSE_S)
        return {}

    def between(self, begin_ns, end_ns, path):
        events = EventList()
        for profiler in self.kept:
            zero_ns = profiler.kineto_results.trace_start_ns()
            events += [e for e in profiler.function_events
                       if begin_ns <= zero_ns + e.time_range.start * 1000 < end_ns]
        events._tree_built = True  # parents and children were found among all of a round
        _write(path, _key_averages(events))
        return {}

    def cost(self):
        plain_ns = _operator_ns()
        with profile(activities=[ProfilerActivity.CPU]):
            profiled_ns = _operator_ns()
        return {"operator_ns": max(0, profiled_ns - plain_ns)}

    def stamps(self, path):
        _write(path, self.notes.take())
        return {}

    def command(self, line):
        name, *args = line.split()
        if name == "run":
            return self.run(int(args[0]))
        if name in ("profile", "shapes"):
            return self.profile(int(args[0]), args[1], name == "shapes")
        if name == "watched":
            return self.watched(args[0])
        if name == "everything":
            return self.everything()
        if name == "averages":
            return self.averages(int(args[0]), args[1])
        if name == "between":
            return self.between(int(args[0]), int(args[1]), args[2])
        if name == "cost":
            return self.cost()
        if name == "stamps":
            return self.stamps(args[0])
        raise ValueError(f"unknown command {name!r}")


def _reply(result):
    print(json.dumps(result), flush=True)


def serve(step, notes=None):
    torch.set_num_threads(1)
    server = _Server(step, notes or Notes())
    server.run(WARMUP_STEPS)
    server.notes.take()
    version = [int(part) for part in torch.__version__.split(".")[:2]]
    _reply({"pid": os.getpid(), "tid": threading.get_native_id(), "torch": version})
    # Line by line from the descriptor: a buffer would hide a waiting command from select().
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as commands:
        while (line := commands.readline().decode()) and line.strip() != "quit":
            _reply(server.command(line))
