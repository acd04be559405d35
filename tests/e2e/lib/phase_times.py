# SPDX-License-Identifier: BSD-2-Clause
"""Compares a step's phases with the job's own clock (tests/workloads/phases_of.py), for the same steps."""
STEPS = 20
RIGHT = 0.05  # of a phase's time
SMALL = 0.01  # this share of the steps' time may be wrong in any phase
# The job's word for a phase: the column of the Steps table.
COLUMNS = {"dataloader": "dataloader_ns", "forward": "forward_ns", "backward": "backward_ns",
           "optimizer": "optimization_ns"}


def _noted(job):
    """Name, begin and end of each."""
    words = (line.split() for line in job.log.read_text().splitlines())
    return [(w[1], int(w[2]), int(w[3])) for w in words if w[0] == "phase"]


def _window(tool):
    steps = [row for row in tool.events() if row["type"] == "step"]
    assert len(steps) == STEPS, len(steps)
    return min(s["ts_ns"] for s in steps), max(s["ts_ns"] + s["dur_ns"] for s in steps)


def check(case, job, detail="phase", small=SMALL, only=tuple(COLUMNS), options=(), lock_is_forward=False):
    """Records some steps: each phase lasts as long as the job says, or those that it notes. The tool. lock_is_forward:
    the wait for Python's lock behind the loader may be told as of the forward pass, as doc/reference/frameworks.md says."""
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + STEPS}", "--detail", detail, *options)
    tool.done(timeout_s=100)
    job.wait_steps(2)
    begin, end = _window(tool)
    # The job's own clock includes the cost of operators' probes.
    raw = () if detail == "phase" else ("--raw-times",)
    rows = tool.report("--table", "steps", *raw)["steps"]["rows"]
    theirs = dict.fromkeys(COLUMNS, 0)
    for name, start, stop in _noted(job):
        theirs[name] += max(0, min(stop, end) - max(start, begin))
    wrong = []
    ours = {name: sum(row[COLUMNS[name]] for row in rows) for name in only}
    if lock_is_forward and ours["dataloader"] < theirs["dataloader"]:
        wait = theirs["dataloader"] - ours["dataloader"]
        ours["dataloader"], ours["forward"] = theirs["dataloader"], ours["forward"] - wait
    for name in only:
        print(f"{name}: {ours[name] / STEPS / 1e3:.0f} us a step, the job's own {theirs[name] / STEPS / 1e3:.0f}")
        if abs(ours[name] - theirs[name]) > max(RIGHT * theirs[name], small * (end - begin)):
            wrong.append((name, ours[name] / STEPS, theirs[name] / STEPS))
    assert not wrong, f"(phase, ns a step, by the job's clock) {wrong} of {(end - begin) / STEPS} ns"
    return tool
