# SPDX-License-Identifier: BSD-2-Clause
"""damage.py KIND FROM TO: copies traces and breaks them in one way."""
import gzip
import json
import pathlib
import sys

from common import read, traces


def first(events, **want):
    return next(e for e in events if all(e.get(k) == v for k, v in want.items()))


def overlap(events):
    slices = [e for e in events if e["ph"] == "X" and e["tid"] == e["pid"]]
    inner = first(slices, name="aten::addmm")
    inner["dur"] += 100


def twice(events):
    """Returns a launch's runtime record and driver record, which share an id as in CUPTI."""
    for e in events:
        if e.get("cat") == "cuda_runtime":
            launch = e["args"].get("correlation")
        elif e.get("cat") == "cuda_driver":
            e["args"]["correlation"] = launch


def lone_flow(events):
    events.remove(first(events, ph="f"))


def stream_on_op(events):
    first(events, cat="cpu_op")["args"]["stream"] = 7


def no_cat(events):
    del first(events, cat="cpu_op")["cat"]


def string_tid(events):
    e = first(events, cat="cpu_op")
    e["tid"] = str(e["tid"])


def negative(events):
    first(events, cat="cpu_op")["dur"] = -1


def no_device(events):
    for e in events:
        if e.get("cat") == "kernel":
            del e["args"]["device"]


def main():
    kind, source, target = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    for path in traces(source):
        trace = json.loads(read(path))
        if kind in globals() and kind not in ("no_rank_space", "tail", "stray_json"):
            globals()[kind](trace["traceEvents"])
        if kind == "tail":
            trace["INFO"] = ["late"]
        compact = (",", ":") if kind == "no_rank_space" else None
        with gzip.open(target / path.name, "wt", encoding="utf-8") as f:
            f.write(json.dumps(trace, separators=compact))
    if kind == "stray_json":
        (target / "summary.json").write_text("{}")


if __name__ == "__main__":
    main()
