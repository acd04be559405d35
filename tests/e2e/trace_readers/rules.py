# SPDX-License-Identifier: BSD-2-Clause
"""The rules of TRACE files that the readers do not report. Perfetto, HTA and TensorBoard silently drop events that
break them."""
import collections
import json
import re
import sys

from common import Report, read, traces


def nesting(events):
    """Slices of a row must nest or be disjoint. Perfetto drops those that overlap."""
    rows = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            begin = round(e["ts"] * 1000)
            rows[e["pid"], e["tid"]].append((begin, -(begin + round(e["dur"] * 1000)), e["name"]))
    bad = []
    for row, slices in rows.items():
        stack = []
        # Python's sort is stable: equal slices keep the file's order, as in Perfetto
        for begin, end, name in sorted(slices, key=lambda s: s[:2]):
            while stack and stack[-1] <= begin:
                stack.pop()
            if stack and -end > stack[-1]:
                bad.append(f"{name} on {row}")
            stack.append(-end)
    return bad


def fields(events):
    bad = []
    for e in events:
        ints = isinstance(e["pid"], int) and isinstance(e["tid"], int)
        if not ints or e["pid"] < 0 or e["tid"] < 0:
            bad.append(f"pid/tid of {e['name']}")
        if e["ph"] == "X" and not (e.get("cat") and e["dur"] >= 0 and "args" in e):
            bad.append(f"cat/dur/args of {e['name']}")
        if e["ph"] in "BE":
            bad.append("a B or E event")
    return bad


def correlation(events):
    """A correlation id may have one CPU event only. Each device event must have a known launch."""
    cpu, device = collections.Counter(), set()
    for e in events:
        args = e.get("args", {})
        if "correlation" in args:
            if "stream" in args:
                device.add(args["correlation"])
            else:
                cpu[args["correlation"]] += 1
    bad = [f"id {i} on {n} CPU events" for i, n in cpu.items() if n > 1]
    return bad + [f"id {i} of a device event on no CPU event" for i in device - set(cpu)]


def flows(events):
    ends = collections.defaultdict(list)
    for e in events:
        if e["ph"] in "sf":
            ends[e["cat"], e["name"], e["id"]].append(e["ph"])
    return [f"{key}: {phs}" for key, phs in ends.items() if sorted(phs) != ["f", "s"]]


def device_side(events):
    bad = [e["name"] for e in events
           if "stream" in e.get("args", {}) and e["cat"] in ("cpu_op", "gpu_user_annotation")]
    return bad + [f"{e['name']}: stream {e['args']['stream']}" for e in events
                  if e.get("args", {}).get("stream", 1) < (-1 if e.get("cat") == "cuda_sync" else 1)]


def main():
    report = Report("rules")
    for path in traces(sys.argv[1]):
        text = read(path)
        trace = json.loads(text)
        events = trace["traceEvents"]
        head = text[: text.index('"traceEvents"')]
        first = next((i for i, e in enumerate(events) if e["ph"] != "M"), len(events))
        report.check("metadata first", first > 0 or not events, path.name)
        report.check("nothing after traceEvents", list(trace)[-1] == "traceEvents", path.name)
        if "distributedInfo" in trace:
            report.check("rank with a space", re.search(r'"rank":\s+\d+', head), path.name)
        for rule in (nesting, fields, correlation, flows, device_side):
            bad = rule(events)
            detail = "; ".join(bad[:3]) if bad else f"{len(events)} events"
            report.check(rule.__name__, not bad, f"{path.name}: {detail}")
    return report.status()


if __name__ == "__main__":
    sys.exit(main())
