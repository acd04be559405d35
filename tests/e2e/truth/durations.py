# SPDX-License-Identifier: BSD-2-Clause
"""How long operators took, and what watching them cost, by torch.profiler."""
import statistics
from collections import defaultdict

from checks import Mismatch
from events import align, operators

RELATIVE, ABSOLUTE_US = 0.05, 2.0


def _quick(times):
    """The lower quartile: other load on the machine only adds, seldom to three of four calls."""
    return statistics.quantiles(times, n=4)[0]


# ---- the same calls ----

SAME_WINDOW = "2:14"
SAME_CALLS = 0.95  # that must agree one by one
TYPICAL = 1.25  # times its cost: caches colder from other load than when the price was taken
COLD = 2  # times its cost: an operator that comes once a step, its code no longer in any cache
CLOCKS_NS = 1_000_000  # by which clocks read at different times may differ; no step is shorter


def _same_calls(trace, ours, truth):
    """The part of truth that is ours, by name and time: both tools' clocks agree to microseconds."""
    begin_ns = trace.wall_zero_ns + ours[0].begin_ns
    first = min(range(len(truth)), key=lambda i: abs(truth[i].begin_ns - begin_ns))
    part = truth[first : first + len(ours)]
    if abs(part[0].begin_ns - begin_ns) > CLOCKS_NS:
        raise Mismatch("torch.profiler did not see these steps, or not at the same time")
    if [span.name for span in ours] != [span.name for span in part]:
        raise Mismatch("the operators are not torch.profiler's")
    return part


def _excess_us(ours, truth, cost_us):
    """By how much a duration of ours breaks the rule: not shorter than the truth and not longer
    than that and the cost of the probes, within 5 % or 2 us; negative if it holds."""
    beyond_us = ours.duration_us - truth.duration_us
    return max(-beyond_us, beyond_us - cost_us) - max(RELATIVE * truth.duration_us, ABSOLUTE_US)


def durations(job):
    """
    While torch.profiler runs, proftrace watches: both see the same calls, with each other's cost in
    what encloses others. So each call must agree, which little on the machine disturbs: nearly all
    one by one, each operator's lower quartile, and the median of all within the cost alone (and a quarter of it).
    """
    profiler_us = job.profiler_cost_us()
    trace, truth = job.record_watched(SAME_WINDOW, "inner")
    ours = operators(trace.of_main_thread("cpu_op"))
    truth = _same_calls(trace, ours, operators(truth))
    cost_us = job.probe_cost_us() + profiler_us
    beyond_us = statistics.median(o.duration_us - t.duration_us for o, t in zip(ours, truth))
    excess = defaultdict(list)
    for mine, theirs in zip(ours, truth):
        excess[mine.name].append(_excess_us(mine, theirs, COLD * cost_us))
    wrong = [f"{name} by {_quick(us):.1f} us" for name, us in excess.items() if _quick(us) > 0]
    agree = sum(us <= 0 for rows in excess.values() for us in rows)
    said = (f"{agree} of {len(ours)} calls agree, the median is {beyond_us:.2f} us longer (an "
            f"operator costs both tools {cost_us:.2f} us)")
    if wrong or agree < SAME_CALLS * len(ours) or not 0 <= beyond_us <= TYPICAL * cost_us:
        raise Mismatch(f"{len(wrong)} of {len(excess)} operators differ, {said}: "
                       + "; ".join(wrong))
    return f"{len(excess)} operators and {said}"


# ---- the cost in what encloses others ----

FIRST, STEPS, ROUNDS = 2, 12, 3
COST_RIGHT = 0.5  # the stated cost may be wrong by this part of it


def _inside(spans):
    """How many operators each one encloses."""
    counts, open_at = [0] * len(spans), []
    for i, span in enumerate(spans):
        del open_at[span.depth :]
        for outer in open_at:
            counts[outer] += 1
        open_at.append(i)
    return counts


def _gather(spans, first, length, into):
    for i, span in enumerate(spans):
        into[(first + i) % length].append(span.duration_us)


def _round(job, ours, theirs):
    """Adds a round of each tool to the durations by place in the step; a step's operators."""
    trace = job.record(f"{FIRST}:{FIRST + STEPS}", "inner")
    mine = operators(trace.of_main_thread("cpu_op"))
    truth = operators(job.profile(STEPS + 1))
    names = [span.name for span in truth]
    length = len(truth) // (STEPS + 1)
    offset = align([span.name for span in mine], names)
    if offset is None or names != names[:length] * (STEPS + 1):
        raise Mismatch("the operators are not torch.profiler's")
    _gather(mine, offset, length, ours)
    _gather(truth, 0, length, theirs)
    return truth[:length]


def own_cost(job):
    """
    The time of a step's outermost operators under proftrace, less its own cost as it states it,
    against torch.profiler's, less its. They differ by 5 % of the time and half of the cost at most.
    """
    ours, theirs, costs = defaultdict(list), defaultdict(list), []
    profiler_us = job.profiler_cost_us()
    for _ in range(ROUNDS):
        step = _round(job, ours, theirs)
        costs.append(job.probe_cost_us())
    cost_us = statistics.median(costs)
    outermost = [i for i, span in enumerate(step) if span.depth == 0]
    inside = sum(_inside(step)[i] for i in outermost)
    mine = sum(_quick(ours[i]) for i in outermost)
    truth = sum(_quick(theirs[i]) for i in outermost) - inside * profiler_us
    left = mine - inside * cost_us
    said = (f"{left / 1e3:.2f} ms a step, torch.profiler says {truth / 1e3:.2f} ms (with the cost "
            f"of {inside} enclosed operators, {cost_us:.2f} us each, {mine / 1e3:.2f} ms)")
    if abs(left - truth) > RELATIVE * truth + COST_RIGHT * inside * cost_us:
        raise Mismatch(said)
    return said
