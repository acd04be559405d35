# SPDX-License-Identifier: BSD-2-Clause
"""Pages of the committed recordings: they must show what the tables have, and react to mouse and keys."""
import csv
import io
import os
import pathlib
import subprocess

from lib.browser import ELEMENT, Browser
from lib import runner

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden"


def proftrace(*args):
    done = subprocess.run([os.environ["PROFTRACE"], *map(str, args)], capture_output=True)
    assert done.returncode == 0, f"{args} ended with {done.returncode}: {done.stderr.decode()}"
    return done.stdout.decode()


def page(case, recording, *args):
    path = case.dir / f"{recording}.html"
    proftrace("report", "-q", "--html", path, *args, GOLDEN / f"{recording}.ptrec")
    return path


def browser(case, **kwargs):
    made = Browser(case.dir, **kwargs)
    case.finally_(made.close)
    return made


def same(got, want, what):
    assert got == want, f"{what}: {got!r}, not {want!r}"


def silent(b):
    same([m["message"] for m in b.messages()], [], "messages of the console")


# Canvases in which all pixels are alike have not been drawn.
EMPTY_CANVASES = """
return [...document.querySelectorAll('canvas')].filter((c) => {
    const pixels = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
    return pixels.every((p) => p === pixels[0]);
}).map((c) => c.getAttribute('aria-label'));
"""
# Interactive things without a name, and images without a description.
NAMELESS = """
return [...document.querySelectorAll('button, input, canvas, [tabindex="0"]')].filter((e) =>
    !(e.getAttribute('aria-label') || e.textContent.trim())).map((e) => e.outerHTML);
"""
# The contrast of text and its background, by WCAG's formula.
LOW_CONTRAST = """
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const light = (rgb) => { const [r, g, b] = rgb.slice(0, 3).map((v) => (v /= 255) <= .04045 ? v / 12.92 :
    ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
const back = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
return [...document.querySelectorAll('body *')].filter((e) => e.offsetParent &&
    [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => {
    const a = light(parse(getComputedStyle(e).color)), b = light(back(e));
    return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.className, e.textContent.slice(0, 30)];
}).filter(([ratio]) => ratio < 4.5);
"""


@runner.test("every committed recording opens without a message, all is drawn and has a name")
def opens(case):
    b = browser(case)
    for recording in ["cpu", "gpu", "simgpu", "cut"]:
        b.open(page(case, recording))
        b.drawn()
        silent(b)
        same(b.js(EMPTY_CANVASES), [], f"{recording}: empty canvases")
        same(b.js(NAMELESS), [], f"{recording}: nameless elements")
        for section in ["findings", "summary", "steps", "usage", "flame", "timeline", "tables",
                        "cost"]:
            assert b.js("return !!document.getElementById(arguments[0])", section), section
        incomplete = b.js("return [...document.querySelectorAll('.warning')].length")
        same(incomplete, 0 if recording == "simgpu" else 1, f"{recording}: warnings")


@runner.test("light and dark by the system and by the button, with enough contrast")
def themes(case):
    path = page(case, "simgpu")
    for dark in [False, True]:
        b = browser(case, dark=dark)
        b.open(path)
        names = ["dark" if dark else "light", "light" if dark else "dark"]
        for name in names:
            same(b.js("return document.documentElement.dataset.theme"), name, "theme")
            same(b.js(LOW_CONTRAST), [], f"{name}: low contrast")
            b.click("#theme")
        silent(b)
        b.close()
        case.ends.pop()


@runner.test("tables are the report's: same rows, sorted by a click, filtered, copied as CSV")
def tables(case):
    b = browser(case)
    b.open(page(case, "simgpu"))
    text = proftrace("report", "--format", "csv", "--table", "operator", GOLDEN / "simgpu.ptrec")
    want = list(csv.DictReader(io.StringIO(text)))
    rows = "[...document.querySelectorAll('#table-operator tbody tr:not(.section)')]"
    names = f"return {rows}.map((r) => r.cells[0].textContent)"
    same(b.js(names), [r["name"] for r in want], "names")

    heads = "#table-operator thead th:nth-child(2)"
    b.click(heads + " button")
    same(b.js(f"return document.querySelector('{heads}').getAttribute('aria-sort')"), "descending",
         "order")
    calls = [int(c) for c in b.js(f"return {rows}.map((r) => r.cells[1].textContent)")]
    same(calls, sorted((int(r["calls"]) for r in want), reverse=True), "calls")
    b.keys(heads + " button", "Enter")
    calls = [int(c) for c in b.js(f"return {rows}.map((r) => r.cells[1].textContent)")]
    same(calls, sorted(int(r["calls"]) for r in want), "calls, by the keyboard")

    b.type("#table-operator input", "aten::_foreach ADD")
    got = b.js(names)
    same(sorted(got), sorted(r["name"] for r in want if "aten::_foreach" in r["name"].lower() and
                             "add" in r["name"].lower()), "filtered")
    assert got, "nothing is left"
    copied = b.js("window.copied = null; navigator.clipboard.writeText = async (t) => { copied = t; };"
                  "[...document.querySelectorAll('#table-operator button')]"
                  ".find((e) => e.textContent === 'Copy as CSV').click(); return copied;")
    copied = list(csv.DictReader(io.StringIO(copied)))
    same(sorted(r["name"] for r in copied), sorted(got), "copied names")
    by_name = {r["name"]: r for r in want}
    for row in copied:
        same(row["cpu_total_ns"], by_name[row["name"]]["cpu_total_ns"], row["name"])
    silent(b)


@runner.test("a closed table is made when it is opened, and details stay with their head")
def details(case):
    b = browser(case)
    b.open(page(case, "cpu", "--op-detail"))
    same(b.js("return document.querySelectorAll('#table-steps table').length"), 0, "closed")
    b.click("#table-steps summary")
    b.drawn()
    same(b.js("return document.querySelectorAll('#table-steps tr.slow').length"), 1, "slow steps")
    depths = ("return [...document.querySelectorAll('#table-overview tbody tr')]"
              ".map((r) => r.cells[0].className)")
    b.click("#table-overview thead th:nth-child(1) button")
    after = b.js(depths)
    same(after[0], "", "the head is first")
    assert "d1" in after, after
    silent(b)


@runner.test("the timeline zooms and moves by keys, wheel and drag, and chooses a step")
def timeline(case):
    b = browser(case)
    b.open(page(case, "simgpu"))
    b.js("document.getElementById('timeline').scrollIntoView()")
    canvas = "#timeline canvas"
    text = "return document.querySelector('#timeline .readout').textContent"

    def pixels():
        b.drawn()
        return b.js(f"return document.querySelector('{canvas}').toDataURL()")

    whole = pixels()
    b.keys(canvas, "+", "+", "+")
    zoomed = pixels()
    assert zoomed != whole, "no zoom by +"
    b.keys(canvas, "ArrowRight")
    moved = pixels()
    assert moved != zoomed, "no move by the arrow"
    b.keys(canvas, "0")
    same(pixels(), whole, "the whole step again")
    b.keys(canvas, "n")
    first = b.js(text)
    b.keys(canvas, "n", "n")
    assert b.js(text) != first, "no way from span to span"
    assert "thread 7108" in b.js(text), b.js(text)
    b.keys(canvas, "Escape", "0")
    origin = {ELEMENT: b.element(canvas)}
    b.command("actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [
        {"type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": -300, "origin": origin}]}]})
    same(pixels(), whole, "the wheel scrolls the page before a click")
    for kind in ["mouse", "touch"]:
        b.keys(canvas, "0", "+", "+")
        before = pixels()
        b.pointer(kind, {"type": "pointerMove", "origin": origin, "x": 0, "y": 0},
                  {"type": "pointerDown", "button": 0},
                  {"type": "pointerMove", "origin": origin, "x": 120, "y": 0, "duration": 50},
                  {"type": "pointerUp", "button": 0})
        assert pixels() != before, f"no move by {kind}"
    b.click("#timeline .tools button:nth-child(2)")
    assert b.js(text).startswith("Step 3"), b.js(text)
    silent(b)


@runner.test("the flame graph zooms by keys, marks names, and has a device's time")
def flame(case):
    b = browser(case)
    b.open(page(case, "simgpu"))
    text = "return document.querySelector('#flame .readout').textContent"
    b.keys("#flame canvas", "ArrowDown")
    assert b.js(text).startswith("Backward: "), b.js(text)
    b.keys("#flame canvas", "ArrowRight")
    assert b.js(text).startswith("Forward: "), b.js(text)
    b.keys("#flame canvas", "Enter", "Escape")
    assert b.js(text).startswith("all: "), b.js(text)
    b.type("#flame input", "conv")
    assert "frames marked" in b.js(text), b.js(text)
    b.click("#flame .tools button:nth-child(2)")
    b.keys("#flame canvas", "ArrowDown")
    silent(b)


@runner.test("steps and charts answer the arrow keys")
def charts(case):
    b = browser(case)
    b.open(page(case, "cpu"))
    b.keys("#steps canvas", "End", "ArrowLeft")
    text = b.js("return document.querySelector('#steps .readout').textContent")
    assert text.startswith("Step 4: ") and "(slow)" in text, text
    b.keys("#usage canvas", "ArrowRight")
    text = b.js("return document.querySelector('#usage .readout').textContent")
    assert "Dataloader" in text, text
    silent(b)


@runner.test("390 pixels wide: the body does not scroll sideways, whatever is open")
def narrow(case):
    b = browser(case, width=390, height=800, touch=True)
    for recording in ["cpu", "simgpu"]:
        b.open(page(case, recording))
        b.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        b.drawn()
        same(b.js("return document.documentElement.scrollWidth"), 390, f"{recording}: width")
        same(b.js(EMPTY_CANVASES), [], f"{recording}: empty canvases")
        hidden = b.js("return [...document.querySelectorAll('.bars .long > span:last-child')].filter((e) =>"
                      "e.getBoundingClientRect().right > e.closest('li').getBoundingClientRect().right)"
                      ".map((e) => e.textContent)")
        same(hidden, [], f"{recording}: names whose ends do not show")
        ends = b.js("return [...document.querySelectorAll('.bars .long')].filter((e) =>"
                    "!e.lastElementChild.textContent).length")
        same(ends, 0, f"{recording}: names that would be cut at their ends")
        silent(b)


@runner.test("findings show commands as code, the legend the mark of slow steps")
def marks(case):
    b = browser(case)
    b.open(page(case, "gpu"))
    assert "`" in proftrace("report", "--table", "findings", GOLDEN / "gpu.ptrec"), "nothing to see"
    assert b.js("return document.querySelectorAll('#findings code').length"), "no code"
    assert "`" not in b.js("return document.getElementById('findings').textContent"), "backticks"
    same(b.js("return [...document.querySelectorAll('#steps .swatch.triangle')]"
              ".map((e) => e.parentElement.textContent)"), ["slow"], "triangles of the legend")
    silent(b)


@runner.test("the page loads nothing, and a script that got into it would not run")
def loads_nothing(case):
    b = browser(case)
    b.open(page(case, "cpu"))
    same(b.js("return performance.getEntriesByType('resource').map((e) => e.name)"), [], "loaded")
    b.js("const s = document.createElement('script'); s.textContent = 'window.bad = 1';"
         "document.body.append(s);"
         "const i = document.createElement('img'); i.src = 'http://127.0.0.1:9/x.png';"
         "document.body.append(i);")
    b.drawn()
    same(b.js("return window.bad || 0"), 0, "a script without the nonce")
    assert any("Content Security Policy" in m["message"] for m in b.messages())


@runner.test("--html says what it cannot do")
def refusals(case):
    tool = os.environ["PROFTRACE"]
    recording = GOLDEN / "cpu.ptrec"
    for args, word in [([recording, recording], "one recording"), ([], "no recording given")]:
        done = subprocess.run([tool, "report", "--html", case.dir / "x.html", *args],
                              capture_output=True, text=True)
        assert done.returncode == 2 and word in done.stderr, done
    copy = case.dir / "copy.ptrec"
    copy.write_bytes(recording.read_bytes())
    done = subprocess.run([tool, "report", "--html", copy, copy], capture_output=True, text=True)
    assert done.returncode and "recording itself" in done.stderr, done
    same(copy.read_bytes(), recording.read_bytes(), "the recording")
    assert proftrace("report", "--html", "-", recording).startswith("<!DOCTYPE html>")
