# SPDX-License-Identifier: BSD-2-Clause
import collections
import json
import pathlib

import jsonschema

from common import RECORDINGS, chrome_spans, cut_off, export, same
from lib.runner import test

SCHEMA = json.loads((pathlib.Path(__file__).parent / "speedscope" /
                     "file-format-schema.json").read_text())


def durations(profile, frames):
    """What speedscope's importer does: a close must be of the frame opened last."""
    opened, last, found = [], profile["startValue"], []
    for event in profile["events"]:
        assert last <= event["at"] <= profile["endValue"], (profile["name"], event)
        last = event["at"]
        if event["type"] == "O":
            opened.append((event["frame"], event["at"]))
            continue
        frame, begin = opened.pop()
        same(event["frame"], frame, f"{profile['name']}: a close")
        found.append((frames[frame]["name"], event["at"] - begin))
    same(opened, [], f"{profile['name']}: still open")
    return found


def load(path):
    trace = json.loads(path.read_text())
    jsonschema.validate(trace, SCHEMA)
    return trace, {p["name"]: durations(p, trace["shared"]["frames"]) for p in trace["profiles"]}


@test("speedscope: valid by its schema, the spans are those of the Chrome trace")
def spans(case):
    for name in RECORDINGS:
        trace, profiles = load(export(case, name, "speedscope", f"{name}.speedscope.json"))
        found = collections.Counter(n for p in profiles.values() for n, _ in p)
        want = collections.Counter(
            "ProfileStep" if e["name"].startswith("ProfilerStep#") else e["name"]
            for e in chrome_spans(case, name))
        assert not found - want and not want - found, (name, found - want, want - found)
        active = trace["profiles"][trace["activeProfileIndex"]]
        assert any(n == "ProfileStep" for n, _ in profiles[active["name"]]), active["name"]
    assert "GPU 0 stream 7" in profiles or name == "cut", profiles


@test("speedscope: kernels keep their duration to the nanosecond")
def kernels(case):
    _, profiles = load(export(case, "gpu", "speedscope", "gpu.json"))
    same(sorted(profiles["GPU 0 stream 7"]), sorted(
        [("Memcpy HtoD (Pageable -> Device)", 8000)] * 2 + [("ampere_sgemm_128x64_tn", 40000)] * 2 +
        [("ampere_sgemm_64x64_nt", 55000)] * 2), "GPU 0 stream 7")


@test("speedscope: the name says what the recording lost")
def loss(case):
    trace, _ = load(export(case, "gpu", "speedscope", "gpu.json"))
    same(trace["name"], "process 4242 (python) on node7 (incomplete, 2 events were lost)", "name")
    trace, _ = load(export(case, "simgpu", "speedscope", "simgpu.json"))
    assert "incomplete" not in trace["name"], trace["name"]
    trace, _ = load(export(case, cut_off(case, "simgpu", 0.7), "speedscope", "cut.json"))
    assert "the recording was cut off" in trace["name"], trace["name"]
