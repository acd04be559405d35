# SPDX-License-Identifier: BSD-2-Clause
"""Reads the device's part of a Chrome trace in Kineto's dialect: activities, each with the call that launched it and
the operators around that call; the program's ranges projected on its streams; and waits for streams and events."""
import collections
import gzip
import json

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")

Activity = collections.namedtuple("Activity", "kind name bytes dur operator")


def load(path):
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        return [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]


def enclosing_operators(events, calls):
    """Innermost operator around each call, by correlation: a sweep over each thread in time."""
    by_thread = collections.defaultdict(list)
    for e in events:
        if e.get("cat") == "cpu_op":
            by_thread[e["tid"]].append((e["ts"], 0, -e["dur"], e))
    for correlation, e in calls.items():
        by_thread[e["tid"]].append((e["ts"], 1, 0, (correlation, e)))
    found = {}
    for items in by_thread.values():
        stack = []
        for ts, is_call, _, item in sorted(items, key=lambda i: i[:3]):
            while stack and stack[-1]["ts"] + stack[-1]["dur"] <= ts:
                stack.pop()
            if is_call:
                found[item[0]] = stack[-1]["name"] if stack else ""
            else:
                stack.append(item)
    return found


def of_trace(events):
    """Activities in order of time."""
    calls = {}
    for e in events:
        if e.get("cat") in ("cuda_runtime", "cuda_driver"):
            correlation = e["args"].get("correlation")
            outer = calls.get(correlation)
            if outer is None or e["ts"] < outer["ts"]:
                calls[correlation] = e
    around = enclosing_operators(events, calls)
    device = sorted((e for e in events if e.get("cat") in DEVICE), key=lambda e: e["ts"])
    return [Activity(e["cat"], e["name"], e["args"].get("bytes"), e["dur"],
                     around.get(e["args"]["correlation"])) for e in device]


def ranges(events):
    """Returns each range of the program on each stream, sorted by time: its name, the names of its first and last
    activity, and their number. Steps are left out."""
    rows = collections.defaultdict(list)
    for e in events:
        if e.get("cat") in DEVICE:
            rows[e["pid"], e["tid"]].append(e)
    found = []
    for e in events:
        if e.get("cat") == "gpu_user_annotation" and not e["name"].startswith("ProfilerStep#"):
            # Kineto's begin and end are rounded apart
            inside = sorted((a["ts"], a["name"]) for a in rows[e["pid"], e["tid"]]
                            if e["ts"] - 0.01 <= a["ts"] <= e["ts"] + e["dur"])
            found.append((e["ts"], -e["dur"], (e["name"], inside[0][1], inside[-1][1], len(inside))))
    return [range_ for *_, range_ in sorted(found)]


def waits(events):
    """How many of each kind there are. Steps begin elsewhere for each side, so their order differs."""
    return collections.Counter(e["name"] for e in events if e.get("cat") == "cuda_sync")


def wrong_waits(events):
    """A wait for an event must name the call that recorded the event last, and its stream."""
    records = {e["args"]["correlation"]: e for e in events if e["name"].startswith("cudaEventRecord")}
    aside = {e["tid"] for e in events if e.get("cat") == "gpu_user_annotation" and e["name"] == "aside"}
    for e in events:
        args = e.get("args", {})
        if args.get("cuda_sync_kind") not in ("Stream Wait Event", "Event Sync"):
            continue
        before = [r for r in records.values() if r["ts"] <= e["ts"]]
        latest = max(before, key=lambda r: r["ts"])["args"]["correlation"] if before else None
        if latest and args.get("wait_on_cuda_event_record_corr_id") != latest:
            yield f"{e['name']}: recorded by {args.get('wait_on_cuda_event_record_corr_id')}, not {latest}"
        if {args.get("wait_on_stream")} != aside:
            yield f"{e['name']}: of stream {args.get('wait_on_stream')}, not {aside}"
