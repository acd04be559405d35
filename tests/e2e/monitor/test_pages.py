# SPDX-License-Identifier: BSD-2-Clause
"""Tests the monitor's pages: what a browser shows, and that recordings and clients can do no harm."""
import json
import os
import re
import signal
import statistics
import time

from lib import process
from lib.browser import Browser
from lib.runner import test
from lib.tool import report
from monitored import Monitor, command, own

NAME = "<b>'\"&"
# No rights of the page's own origin: it is in a sandbox.
ORIGIN = "return [self.origin, (() => { try { return !localStorage; } catch (e) { return e.name; } })()]"


def named(case, name):
    return case.job("named.py", own(name), "train.py", fresh=True).wait_steps(5)


def token_file(case):
    token = case.dir / "token"
    token.write_text("s3cret\n")
    token.chmod(0o600)
    return token


def text_of(b, css):
    return b.js("return document.querySelector(arguments[0]).textContent", css)


def settled(b):
    """Messages of the console; none is ours to make."""
    messages = [m["message"] for m in b.messages()]
    assert not messages, messages


def record(b, job, said):
    """Clicks until the answer comes. While a window is open or read, no other can be requested."""
    def answers():
        b.click(f"#record{job.pid}")
        time.sleep(0.5)
        return said in text_of(b, "#said")

    process.wait_for(answers, 60, said)


def check_json(monitor, job):
    rank = json.loads(monitor.text(f"/jobs/{job.pid}"))
    assert {k: rank[k] for k in ("pid", "job_name", "rank")} == {
        k: monitor.rank(job)[k] for k in ("pid", "job_name", "rank")}, rank
    assert len(rank["recent_windows"]) == rank["windows"] >= 2, rank
    assert rank["recent_windows"][-1]["recording"] == rank["latest_recording"], rank
    for window in rank["recent_windows"]:
        tables = report(monitor.store / window["recording"], "--table", "steps")
        steps = [row["time_ns"] for row in tables["steps"]["rows"]]
        # For an even number the median is one of the two in the middle.
        assert statistics.median_low(steps) <= window["step_seconds"] * 1e9 <= statistics.median_high(steps), window
        assert 0.9 * min(job.steps()) <= window["step_seconds"] * 1e9 <= 1.1 * max(job.steps()), window


@test("pages in a browser: jobs, one job, a recording; hostile names are text; the button records a window")
def browse(case):
    job = named(case, NAME)
    monitor = Monitor(case, own(""), "--token-file", token_file(case), "--pages", "all")
    monitor.wait_windows(job, 2)
    check_json(monitor, job)
    for path in (f"/jobs/{job.pid}", f"/jobs/{job.pid}.html", "/"):
        html = monitor.html(path)
        assert "&lt;b" in html and "<b>" not in html, html
        assert not re.search(r"(src|href)=\"(?!/|data:,)", html), html
        policy = monitor.ask(path, headers={"Accept": "text/html"})[1]["Content-Security-Policy"]
        assert "unsafe" not in policy and "default-src 'none'" in policy, policy
    b = Browser(case.dir)
    case.finally_(b.close)
    base = f"http://{monitor.place}"
    b.visit(f"{base}/")
    name = monitor.rank(job)["job_name"]
    assert NAME in name
    assert text_of(b, f"#job{job.pid}") == name, b.js("return document.body.textContent")
    assert b.js("return document.querySelectorAll('main svg.spark polyline, main svg.phases rect').length") >= 3
    keep = os.environ.get("KEEP_SCREENSHOTS")
    if keep:
        b.screenshot(f"{keep}/jobs.png")
    windows = monitor.rank(job)["windows"]
    record(b, job, "Type the token first")
    b.type("#token", "wrong")
    b.type("#steps", "8")
    settled(b)
    record(b, job, "give the token")
    b.messages()  # the browser reports a 401
    b.js("document.querySelector('#token').value = 's3cret'")
    record(b, job, "a window opens")
    monitor.wait_windows(job, windows + 1)
    # The list is updated without a reload, and typed text stays.
    steps = f"document.querySelector('#job{job.pid}').closest('tr').cells[3].textContent"
    before = int(b.js(f"return {steps}"))
    process.wait_for(lambda: int(b.js(f"return {steps}")) > before, 30, "new figures")
    assert b.js("return document.querySelector('#token').value") == "s3cret"
    b.messages()
    b.visit(f"{base}/jobs/{job.pid}.html")
    assert name in text_of(b, "h1") and monitor.rank(job)["latest_recording"] in text_of(b, "main")
    assert b.js("return document.querySelectorAll('main tbody tr').length") >= 5
    settled(b)
    if keep:
        b.screenshot(f"{keep}/job.png")
    b.visit(f"{base}/")
    b.click(f"#report{job.pid}")
    b.drawn()
    for section in ("findings", "summary", "steps", "flame", "timeline"):
        assert b.js("return !!document.getElementById(arguments[0])", section), section
    assert b.js(ORIGIN) == ["null", "SecurityError"], b.js(ORIGIN)
    settled(b)
    if keep:
        b.screenshot(f"{keep}/report.png")
    first = json.loads(monitor.text(f"/jobs/{job.pid}"))["recent_windows"][0]["recording"]
    assert monitor.ask(f"/jobs/{job.pid}/report.html?recording={first}")[0] == 200
    for other in ("/etc/passwd", "../x", f"../{monitor.store.name}/{first}", "", "x" * 300):
        assert monitor.ask(f"/jobs/{job.pid}/report.html?recording={other}")[0] == 404, other
    for path in ("/jobs/1", "/jobs/1/report.html", "/jobs/x", "/jobs/", f"/jobs/{job.pid}/", f"/jobs/{job.pid}.htm",
                 f"/jobs/{job.pid}99999999999", "/jobs/-1"):
        assert monitor.ask(path)[0] == 404, path
    assert monitor.end() == 0, monitor.tool.err


@test("the page of a recording: for the token's holder or at a unix socket alone; damaged, removed, slow: no harm")
def guarded(case):
    job = named(case, "page-g")
    monitor = Monitor(case, own("page-g"), "--token-file", token_file(case))
    rank = monitor.wait_windows(job, 1)
    path = f"/jobs/{job.pid}/report.html"
    status, _, text = monitor.ask(path)
    assert status == 403 and "--pages all" in text, (status, text)
    assert monitor.ask(path, headers={"Authorization": "Bearer s3cre"})[0] == 403
    status, headers, text = monitor.ask(path, headers={"Authorization": "Bearer s3cret"})
    assert status == 200 and "sandbox" in headers["Content-Security-Policy"] and "<html" in text, (status, text[:500])
    assert monitor.end() == 0, monitor.tool.err
    assert rank["latest_recording"] in os.listdir(monitor.store)

    monitor = Monitor(case, own("page-g"), place=case.dir / "socket")
    # One window: a name that nothing takes the place of.
    rank = monitor.wait_windows(job, 1)
    file = monitor.store / rank["latest_recording"]
    of_file = f"{path}?recording={file.name}"
    assert monitor.ask(of_file)[0] == 200
    # The page was kept, so it is not made again.
    file.write_bytes(b"no recording")
    assert monitor.ask(of_file)[0] == 200
    rank = monitor.wait_windows(job, rank["windows"] + 1)
    file = monitor.store / rank["latest_recording"]
    whole = file.read_bytes()
    file.write_bytes(whole[:300] + b"\xff" * 5000 + whole[5300:])
    status, _, text = monitor.ask(f"{path}?recording={file.name}")
    assert status in (200, 500), text
    rank = monitor.wait_windows(job, rank["windows"] + 1)
    (monitor.store / rank["latest_recording"]).unlink()
    status, _, text = monitor.ask(f"{path}?recording={rank['latest_recording']}")
    assert status == 410 and "--keep" in text, (status, text)
    rank = monitor.wait_windows(job, rank["windows"] + 1)
    check_slow(monitor, f"{path}?recording={rank['latest_recording']}")
    assert monitor.end() == 0, monitor.tool.err
    job.wait_steps(3)


def check_slow(monitor, path):
    """A client that reads slowly must not delay others."""
    import threading
    answers = []
    thread = threading.Thread(target=lambda: answers.append(monitor.ask(path)[0]))

    def maker():
        return [pid for pid in monitor.own() if "--html" in command_of(pid)]

    thread.start()
    process.wait_for(lambda: maker() and [os.kill(pid, signal.SIGSTOP) for pid in maker()], 20, "the page's process")
    for _ in range(3):
        assert not answers and monitor.ask("/health")[0] == 200 and monitor.ranks()
    for pid in maker():
        os.kill(pid, signal.SIGKILL)
    thread.join(20)
    assert answers == [500], answers


def command_of(pid):
    try:
        return command(pid)
    except (FileNotFoundError, ProcessLookupError):
        return []
