# SPDX-License-Identifier: BSD-2-Clause
"""What a Chrome trace of Kineto's dialect says of the device: activities, each with the call that
launched it and the operators around that call."""
import collections
import gzip
import json

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")

Activity = collections.namedtuple("Activity", "kind name bytes dur operator")


def load(path):
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        return [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]


def operators_around(events, calls):
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


def of_trace(path):
    """Activities in order of time."""
    events = load(path)
    calls = {}
    for e in events:
        if e.get("cat") in ("cuda_runtime", "cuda_driver"):
            correlation = e["args"].get("correlation")
            outer = calls.get(correlation)
            if outer is None or e["ts"] < outer["ts"]:
                calls[correlation] = e
    around = operators_around(events, calls)
    device = sorted((e for e in events if e.get("cat") in DEVICE), key=lambda e: e["ts"])
    return [Activity(e["cat"], e["name"], e["args"].get("bytes"), e["dur"],
                     around.get(e["args"]["correlation"])) for e in device]
