# SPDX-License-Identifier: BSD-2-Clause
"""Compares the device activities of the same steps, recorded by proftrace from outside and by torch.profiler in the
job. Kernels, copies and sets must be the same, in the same order, below the same operators and as long. The ranges on
the device's streams and the waits must be the same too."""
import collections
import os
import subprocess
import sys

import activities

STEPS = 6
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
PROFTRACE = os.environ["PROFTRACE"]


def record(pid):
    subprocess.run([PROFTRACE, "-p", str(pid), "--record", f"2:{2 + STEPS}", "--detail", "inner", "--sync-events",
                    "--no-progress", "-o", "steps.ptrec", "--trace", "ours.json.gz"],
                   check=True, stdout=open("report", "w"), stderr=open("log", "w"))
    log = open("log").read()
    print(log, end="")
    if "events lost: 0" not in open("report").read():
        sys.exit("events were lost")


def both(python):
    job = subprocess.Popen([python, f"{ROOT}/tests/workloads/gpu_steps.py", str(STEPS)],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if job.stdout.readline() != "ready\n":
            sys.exit("the job did not start")
        record(job.pid)
        job.stdin.write("theirs.json\n")
        job.stdin.close()
        if job.stdout.readline() != "done\n" or job.wait(120):
            sys.exit("the job did not end well")
    finally:
        job.kill()
    return activities.load("ours.json.gz"), activities.load("theirs.json")


def same(what, ours, theirs):
    """Each step must have the same list."""
    for number, (a, b) in enumerate(zip(in_steps(ours), in_steps(theirs))):
        if a != b:
            yield f"step {number}: {what} {a}, torch.profiler has {b}"


def in_steps(found):
    """Returns one list per step, by number. All steps must do the same."""
    if len(found) % STEPS:
        sys.exit(f"{len(found)} activities are not the same in each of {STEPS} steps")
    size = len(found) // STEPS
    return [found[i * size:(i + 1) * size] for i in range(STEPS)]


def differences(ours, theirs):
    for number, (a, b) in enumerate(zip(in_steps(ours), in_steps(theirs))):
        if len(a) != len(b):
            yield f"step {number}: {len(a)} activities, torch.profiler has {len(b)}"
        for x, y in zip(a, b):
            if x[:3] != y[:3]:
                yield f"step {number}: {x[:3]}, torch.profiler: {y[:3]}"
            elif x.operator != y.operator:
                yield f"step {number}: {x.name} below {x.operator}, torch.profiler: {y.operator}"


def strays(found):
    """In a training, torch.profiler shows an operator or a Python function for all of the device's work."""
    for a in found:
        if a.kind == "kernel" and not a.operator:
            yield f"{a.name} below no operator"


def check_durations(ours, theirs):
    """Compares per kernel, not per call, because on hardware each call takes its own time."""
    times = [collections.defaultdict(list), collections.defaultdict(list)]
    for total, found in zip(times, (ours, theirs)):
        for a in found:
            total[a.kind, a.name, a.bytes].append(a.dur)
    for key in times[0]:
        x, y = (sorted(t[key])[len(t[key]) // 2] for t in times)
        if abs(x - y) > 1 + 0.1 * y:
            yield f"{key}: {x:.2f} us, torch.profiler: {y:.2f} us"


def main():
    events = both(sys.argv[1])
    ours, theirs = map(activities.of_trace, events)
    ranges, waits = (list(map(f, events)) for f in (activities.ranges, activities.waits))
    wrong = [*differences(ours, theirs), *strays(ours), *check_durations(ours, theirs),
             *same("ranges", *ranges), *activities.wrong_waits(events[0])]
    # The window begins with the first wait. torch.profiler waits once more at its end.
    told = waits[0].pop("Context Sync", 0)
    if told != STEPS:
        wrong.append(f"{told} waits for the device in {STEPS} steps")
    waits[1].pop("Context Sync", 0)
    if waits[0] != waits[1]:
        wrong.append(f"waits: {dict(waits[0])}, torch.profiler: {dict(waits[1])}")
    for line in wrong[:20]:
        print(f"WRONG {line}")
    kinds = collections.Counter(a.kind for a in ours)
    print(f"{len(ours)} activities of {STEPS} steps ({dict(kinds)}), {len(ranges[0])} ranges, "
          f"{sum(waits[0].values())} waits, {len(wrong)} differences")
    sys.exit(bool(wrong or not ours or not ranges[0] or not waits[0]))


main()
