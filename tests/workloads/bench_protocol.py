"""How a training job of the benchmarks is told what to do.

Commands come as lines on standard input, answers go as one line of JSON each to standard output:

    run N    N steps
    prof N   N steps under the framework's own profiler
    bare N   N steps with the device's own tracing on, and nobody who takes what it traces
    spin     steps until the next line comes
    quit

An answer has, per step, the time of day at its begin, its elapsed time and its CPU time, all in
nanoseconds: {"begin": [...], "wall": [...], "cpu": [...], "yard": [...]}. CPU time is that of the
thread that trains, or of the process if the framework runs operators on threads of its own. The
yardstick is the CPU time of some work of the interpreter's between two steps that no profiler looks
at: it tells how fast the processor is at that moment.
"""
import json
import os
import select
import sys
import time

WARM = 20  # steps
YARD = range(1000)


def yardstick():
    begin = time.thread_time_ns()
    sum(YARD)
    return time.thread_time_ns() - begin


class Timed:
    """Runs and times a job's steps. profiler, bare: context managers, the framework's own, and the
    device's tracing, if the job can."""

    def __init__(self, step, profiler, cpu_clock=time.thread_time_ns, bare=None):
        self.step, self.profiler, self.cpu_clock, self.bare = step, profiler, cpu_clock, bare

    def steps(self, more):
        times = {"begin": [], "wall": [], "cpu": [], "yard": []}
        while more():
            times["begin"].append(time.time_ns())
            wall, cpu = time.perf_counter_ns(), self.cpu_clock()
            self.step()
            times["cpu"].append(self.cpu_clock() - cpu)
            times["wall"].append(time.perf_counter_ns() - wall)
            times["yard"].append(yardstick())
        return times

    def run(self, cnt):
        left = iter(range(cnt))
        return self.steps(lambda: next(left, None) is not None)

    def run_under(self, profiler, cnt):
        with profiler():
            return self.run(cnt)

    def spin(self):
        """Runs without reading. The next command ends it."""
        return self.steps(lambda: not select.select([0], [], [], 0)[0])


def read_line():
    """Unbuffered, so that select() in spin() sees every line that was not taken yet."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return "quit"
        line += byte
    return line.decode().strip()


def serve(job, **facts):
    """Answers commands until quit. facts: what the first line says besides the pid."""
    job.run(WARM)
    # The frameworks' own output goes elsewhere.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    print(json.dumps({"pid": os.getpid(), **facts}), file=answers)
    while (line := read_line()) != "quit":
        command, *count = line.split()
        if command == "run":
            answer = job.run(int(count[0]))
        elif command == "prof":
            answer = job.run_under(job.profiler, int(count[0]))
        elif command == "bare":
            answer = job.run_under(job.bare, int(count[0]))
        elif command == "spin":
            answer = job.spin()
        elif command == "stop":
            continue
        else:
            sys.exit(f"unknown command {line!r}")
        print(json.dumps(answer), file=answers)
