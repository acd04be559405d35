# SPDX-License-Identifier: BSD-2-Clause
"""Checks what must hold for the tables of every recording, whatever ran: sums, shares, names, layout."""
import gzip
import json
import re
import socket
import unicodedata

PHASES = ("Dataloader", "Forward", "Backward", "Optimization")
OPERATOR = re.compile(r"(aten|torch|autograd|c10|prims|quantized)::[\w:.]+(: [\w:.]+)?|[\w.:]+")


def sections(tables, estimated=False):
    """Returns the operator rows by section."""
    found = {}
    for row in rows(tables, "operator"):
        if row["depth"] == 0 and (estimated or not row["estimated"]):
            found.setdefault(row["section"], []).append(row)
    return found


def near(a, b, share=1e-3):
    return abs(a - b) <= share * max(abs(a), abs(b)) + 2


def rows(tables, table):
    return tables[table]["rows"]


def by_name(tables, table, key="name"):
    return {r[key]: r for r in rows(tables, table)}


def check_stats(row, some_cut=False):
    total, avg, most, least = (row[f"cpu_{k}_ns"] for k in ("total", "avg", "max", "min"))
    assert least <= avg <= most <= total, row
    assert some_cut or abs(total - avg * row["calls"]) <= row["calls"], row


def check_phases(tables, overview):
    model = by_name(tables, "model")
    whole = model["ProfileStep"]
    assert whole["calls"] == overview["ProfileStep"]["calls"]
    assert whole["cpu_total_ns"] == overview["ProfileStep"]["cpu_time_ns"]
    for name in PHASES:
        assert (name in model) == (name in overview)
        assert name not in model or near(model[name]["cpu_total_ns"],
                                         overview[name]["cpu_time_ns"]), (model, overview)
    parts = [model[name] for name in (*PHASES, "Others") if name in model]
    assert near(sum(r["cpu_total_ns"] for r in parts), whole["cpu_total_ns"]), model
    assert abs(sum(r["cpu_ratio_percent"] for r in parts) - 100) < 0.1, model
    for row in model.values():
        if row["calls"]:
            check_stats(row)


def check_steps(tables, steps):
    """Overview and Model must agree with each other and with the number of steps."""
    summary = rows(tables, "summary")[0]
    assert steps is None or summary["steps"] == steps, summary
    assert summary["framework"].startswith("PyTorch 2."), summary
    overview = by_name(tables, "overview", "event_type")
    whole = overview["ProfileStep"]
    assert whole["calls"] == summary["steps"]
    for row in overview.values():
        share = 100 * row["cpu_time_ns"] / whole["cpu_time_ns"]
        assert near(row["ratio_percent"], share), row
        assert share <= 100.5, row
    if "model" in tables:
        check_phases(tables, overview)


def check_order(section):
    """One order and one base of ratios for recorded and estimated rows; nodes may be in both."""
    ratios = sum(r["cpu_ratio_percent"] for r in section)
    assert ratios > 99.9 and (ratios < 100.1 or any(r["estimated"] for r in section)), section
    assert all(r["cpu_ratio_percent"] <= 100 for r in section), section
    totals = [r["cpu_total_ns"] for r in section]
    assert totals == sorted(totals, reverse=True), section


def check_operators(tables):
    found = sections(tables)
    some_cut = any("cut at the window's edge" in note for note in tables["operator"]["notes"])
    for section in found.values():
        for row in section:
            assert OPERATOR.fullmatch(row["name"]), row
            check_stats(row, some_cut)
    for section in sections(tables, estimated=True).values():
        check_order(section)
    if "Thread: All threads merged" not in found:
        # Each costs more than the budget, in a step that hardly runs: all are estimated.
        assert sections(tables, estimated=True)["Thread: All threads merged"], tables["operator"]
        assert "Operator" not in by_name(tables, "overview", "event_type")
        return
    calls = sum(r["calls"] for r in found["Thread: All threads merged"])
    in_steps = by_name(tables, "overview", "event_type")["Operator"]["calls"]
    # A window by time ends within a step. The tables have that step's part, but the overview does not.
    partial = any(n.startswith("Left out here, being in no whole step") for n in
                  tables["overview"]["notes"])
    assert calls > in_steps if partial else calls == in_steps, (calls, in_steps)


def check_perf(tables):
    perf = by_name(tables, "perf")
    step = by_name(tables, "overview", "event_type")["ProfileStep"]
    for row in perf.values():
        assert row["min"] <= row["avg"] <= row["max"], row
    assert near(perf["batch_cost"]["avg"] * 1e9 * step["calls"], step["cpu_time_ns"]), perf
    assert abs(perf["ips"]["avg"] * perf["batch_cost"]["avg"] - 1) < 1e-3, perf
    if "reader_cost" in perf:
        assert perf["reader_cost"]["avg"] < perf["batch_cost"]["avg"], perf


def check_rest(tables):
    device = by_name(tables, "device", "device")
    assert 0 < device["CPU(System)"]["utilization_percent"] <= 100, device
    assert 0 < device["CPU(Process)"]["utilization_percent"] < 2000, device
    cost = rows(tables, "cost")[0]
    assert cost["events_lost"] == 0 and cost["hits"] > 0, cost
    assert tables["schema_version"] == 1
    left_out = {key: table["left_out"] for key, table in tables.items() if key != "schema_version"}
    assert not any(left_out.values()), left_out


def check(tables, steps=None):
    check_steps(tables, steps)
    if "operator" in tables:
        check_operators(tables)
    check_perf(tables)
    check_rest(tables)


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def check_text(text, width=None):
    """No line is too long, no character is invisible, and no value is not-a-number."""
    for line in text.splitlines():
        assert width is None or columns(line) <= width, f"{columns(line)} columns: {line}"
        assert line == line.rstrip(), f"blanks at the end: '{line}'"
        assert line.isprintable(), repr(line)
        assert not re.search(r"\b(nan|inf)\b", line), line
    for table in re.findall(r"^-+[A-Z][^\n]*-\n(?:[^\n]+\n)*", text, re.M):
        if "What to Look at First" in table.splitlines()[0]:  # paragraphs
            assert re.search(r"^1\. \S|^No ", table, re.M), table
            continue
        lines = table.splitlines()
        at = next(i for i, l in enumerate(lines) if re.fullmatch(r"-+(  -+)+", l))
        for column in re.finditer(r"-+", lines[at]):
            assert lines[1][column.start():column.end()].strip(), f"no title in column {column.start()}: {table}"


def titles(text):
    return re.findall(r"^-+([A-Z][A-Za-z ]+ Summary)-+$", text, re.M)


def check_trace(path, steps):
    """The trace must begin as its readers expect, and have the steps."""
    data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    trace = json.loads(data)
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    found = {e["name"] for e in events if e["name"].startswith("ProfilerStep#")}
    assert len(found) == steps, found
    assert all(e["dur"] >= 0 and e["cat"] for e in events)
    return events


def default_names(pid):
    host = socket.gethostname()
    return f"{host}_{pid}.ptrec", f"{host}_{pid}.pt.trace.json.gz"
