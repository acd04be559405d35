# SPDX-License-Identifier: BSD-2-Clause
"""Compares phases, steps and CPU time with the workload's own notes."""
from checks import Mismatch

FIRST, STEPS = 2, 20
RIGHT = 0.95  # of the time of the recorded steps
CPU_WINDOW, CPU_TOLERANCE = "5s", 0.01

# The workload's word for a phase: the column of the Steps table. zero_grad is not a phase of its
# own in the table.
COLUMNS = {"dataloader": "dataloader", "forward": "forward", "backward": "backward",
           "optimizer": "optimization"}


def _overlap(begin, end, other_begin, other_end):
    return max(0, min(end, other_end) - max(begin, other_begin))


def _truth_in(stamps, begin_ns, end_ns, unseen):
    """Returns the time of each phase between two moments. A phase that cannot be seen counts as no phase."""
    times = dict.fromkeys([*COLUMNS.values(), "others"], 0)
    for name, begin, end in stamps["phases"]:
        column = "others" if name in unseen else COLUMNS.get(name, "others")
        times[column] += _overlap(begin, end, begin_ns, end_ns)
    times["others"] = end_ns - begin_ns - sum(t for c, t in times.items() if c != "others")
    return times


def _step_count(stamps, begin_ns, end_ns):
    return sum(begin_ns <= (begin + end) / 2 < end_ns for begin, end, _ in stamps["steps"])


def phases(job, unseen=()):
    """
    Of the time of the recorded steps, the part that the Steps table puts into the right phase, by
    the workload's own clock: per step and phase the smaller of both times. And every step is found:
    each of proftrace's holds the middle of exactly one of the workload's. unseen: phases that torch
    announces to nobody.
    """
    job.stamps()
    trace = job.record(f"{FIRST}:{FIRST + STEPS}", "phase")
    stamps = job.stamps()
    rows = job.table("steps")
    marks = trace.steps()
    if len(rows) != STEPS or len(marks) != STEPS:
        raise Mismatch(f"{len(rows)} steps in the table, {len(marks)} in the trace, not {STEPS}")
    alone = sum(_step_count(stamps, begin, end) == 1 for begin, end in marks)
    right = total = 0
    for row, (begin, end) in zip(rows, marks):
        truth = _truth_in(stamps, begin, end, unseen)
        right += sum(min(row[f"{column}_ns"], ns) for column, ns in truth.items())
        total += end - begin
    if alone != STEPS or right < RIGHT * total:
        raise Mismatch(f"{right / total:.1%} of the time in the right phase (wanted "
                       f"{RIGHT:.1%}), {alone} of {STEPS} steps found")
    return f"{right / total:.1%} of the time in the right phase, {alone} of {STEPS} steps found"


def cpu(job):
    """CPU(Process) of the Device table against utime + stime of /proc/PID/stat."""
    job.stamps()
    trace = job.record(CPU_WINDOW, "phase")
    seen = [(end, cpu_ns) for _, end, cpu_ns in job.stamps()["steps"]
            if trace.begin_ns <= end <= trace.end_ns]
    (begin, cpu_begin), (end, cpu_end) = seen[0], seen[-1]
    truth = (cpu_end - cpu_begin) / (end - begin)
    rows = {row["device"]: row["utilization_percent"] / 100 for row in job.table("device")}
    ours = rows["CPU(Process)"]
    if abs(ours - truth) > CPU_TOLERANCE * truth:
        raise Mismatch(f"{ours:.2%}, /proc says {truth:.2%}")
    return f"{ours:.2%} of one core, /proc says {truth:.2%}"
