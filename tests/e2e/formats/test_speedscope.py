# SPDX-License-Identifier: BSD-2-Clause
import base64
import collections
import json
import pathlib
import re
import tarfile

import jsonschema

from common import RECORDINGS, chrome_spans, cut_off, export, same
from lib.browser import Browser
from lib.process import wait_for
from lib.runner import test

HERE = pathlib.Path(__file__).parent / "speedscope"
SCHEMA = json.loads((HERE / "file-format-schema.json").read_text())
RELEASE = HERE / "speedscope-1.25.0.tgz"  # the file from the package registry


def durations(profile, frames):
    """Reads a profile as speedscope's importer does: a close must be of the frame that was opened last."""
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
        assert "GPU 0 stream 7" in profiles or name != "gpu", profiles
        active = trace["profiles"][trace["activeProfileIndex"]]
        assert any(n == "ProfileStep" for n, _ in profiles[active["name"]]), active["name"]


@test("speedscope: kernels keep their duration to the nanosecond")
def kernels(case):
    _, profiles = load(export(case, "gpu", "speedscope", "gpu.json"))
    same(sorted(profiles["GPU 0 stream 7"]), sorted(
        [("Memcpy HtoD (Pageable -> Device)", 8000)] * 2 + [("ampere_sgemm_128x64_tn", 40000)] * 2 +
        [("ampere_sgemm_64x64_nt", 55000)] * 2), "GPU 0 stream 7")


@test("speedscope: the name says what the recording lost")
def loss(case):
    trace, _ = load(export(case, "gpu", "speedscope", "gpu.json"))
    same(trace["name"], "process 4242 (python) on node7 (incomplete, 2 events were lost) (not recorded: 1 operator "
         "without a probe, about 0.018 ms of a step: their time is in what is around or before them)", "name")
    trace, _ = load(export(case, "simgpu", "speedscope", "simgpu.json"))
    assert "incomplete" not in trace["name"], trace["name"]
    trace, _ = load(export(case, cut_off(case, "simgpu", 0.7), "speedscope", "cut.json"))
    assert "the recording was cut off" in trace["name"], trace["name"]


def own_times(profile, frames):
    """Returns each name's time in ns, without the frames inside."""
    own, opened, last = collections.Counter(), [], profile["startValue"]
    for event in profile["events"]:
        if opened:
            own[frames[opened[-1]]["name"]] += event["at"] - last
        last = event["at"]
        if event["type"] == "O":
            opened.append(event["frame"])
        else:
            opened.pop()
    return own


def shown_times(text):
    """Returns the same from speedscope's table of functions: total, own time and name, each on a line."""
    row = re.compile(r"^[\d.]+[mnµ]?s \([^)]*\)\n\t([\d.]+)([mnµ]?s) \([^)]*\)\n\t(.*)$", re.M)
    scale = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}
    return {name: float(value) * scale[unit] for value, unit, name in row.findall(text)}


TEXT = "return document.body.innerText"


@test("speedscope: its own importer, in a browser, shows each function with its time")
def importer(case):
    with tarfile.open(RELEASE) as release:
        release.extractall(case.dir)
    page = case.dir / "package" / "dist" / "release" / "index.html"
    browser = Browser(case.dir, height=4000)  # it draws the rows that are seen
    case.finally_(browser.close)
    for name in RECORDINGS:
        path = export(case, name, "speedscope", f"{name}.speedscope.json")
        trace = json.loads(path.read_text())
        active = trace["profiles"][trace["activeProfileIndex"]]
        script = case.dir / f"{name}.js"
        encoded = base64.b64encode(path.read_bytes()).decode()
        script.write_text(f'speedscope.loadFileFromBase64("{path.name}", "{encoded}")')
        browser.command("url", {"url": "about:blank"})
        browser.command("url", {"url": f"{page.as_uri()}#view=sandwich&localProfilePath={script}"})
        expected = own_times(active, trace["shared"]["frames"])
        wait_for(lambda: set(shown_times(browser.js(TEXT))) == set(expected), 30,
                 f"{name}: {sorted(expected)}")
        assert active["name"] in browser.js(TEXT), browser.js(TEXT)
        shown = shown_times(browser.js(TEXT))
        for function, ns in expected.items():  # three digits
            assert abs(shown[function] - ns) <= max(0.01 * ns, 10), (name, function, shown[function], ns)
        assert trace["name"] in browser.js("return document.title"), browser.js("return document.title")
        errors = [m for m in browser.messages() if m["level"] == "SEVERE"]
        assert not errors, errors
