# SPDX-License-Identifier: BSD-2-Clause
"""Checks the lost events and the cost that every report states."""
import csv
import io
import json

from checks import Mismatch

STEPS = 4
WINDOW = f"2:{2 + STEPS}"
TABLES = ("device", "operator", "overview,perf", "steps")
ENOUGH_RING, SMALL_RING = "64M", "4K"  # the small one holds 70 spans, read each 10 ms


def _of_json(text):
    (row,) = json.loads(text)["cost"]["rows"]
    return row


def _of_csv(text):
    lines = text[text.index("# Loss and Cost\n"):].splitlines()[1:3]
    (row,) = csv.DictReader(io.StringIO("\n".join(lines)))
    return row


def _of_text(text):
    facts = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {"events_lost": facts["events lost"], "hits": facts["probe hits"],
            "added_per_step_ns": facts["estimated added time per step"],
            "loader_cpu_ns": facts["CPU time of proftrace"]}


READERS = {"json": _of_json, "csv": _of_csv, "table": _of_text}


def _said_alike(job):
    """All reports must state the same loss and cost."""
    said = set()
    for table in TABLES:
        for form, read in READERS.items():
            # The CSV of one table must have nothing else.
            row = read(job.report(table if form == "json" else f"{table},cost", form))
            if not all(row[key] for key in ("added_per_step_ns", "loader_cpu_ns")):
                raise Mismatch(f"{table} as {form}: no cost in {row}")
            said.add((int(row["events_lost"]), int(row["hits"])))
    if len(said) != 1:
        raise Mismatch(f"reports differ in events lost and hits: {sorted(said)}")
    return said.pop()


def _spans(trace):
    """Recorded spans: steps are events of their own, and phases are inferred later."""
    return sum(e["cat"] in ("cpu_op", "user_annotation") and not e["name"].startswith("ProfilerStep#")
               for e in trace.events)


def reports(job):
    """With a large ring nothing may be lost. With a small ring, the events kept and the events lost must add up to all
    events."""
    happened = _spans(job.record(WINDOW, "operator", "--ring-size", ENOUGH_RING))
    lost, hits = _said_alike(job)
    if lost or hits < happened:
        raise Mismatch(f"{lost} events lost, {hits} hits for {happened} spans")
    kept = _spans(job.record(WINDOW, "operator", "--ring-size", SMALL_RING))
    lost, _ = _said_alike(job)
    if not lost or kept + lost != happened:
        raise Mismatch(f"{happened} spans, {kept} of them kept, but {lost} events lost")
    return (f"{len(TABLES) * len(READERS)} reports say that 0 of {happened} spans were lost, and "
            f"{lost} with a ring too small")
