# SPDX-License-Identifier: BSD-2-Clause
"""Tests which steps are recorded, and what counts as a step."""
import gzip
import json
import re
import sqlite3
import subprocess
import time

import sense
from lib import process
from lib.job import PYTHON, WORKLOADS
from lib.runner import test
from lib.tool import PROFTRACE, STOPPED, calls, distance, report

BACKWARD = "libtorch_python.so:_Z*22THPEngine_run_backwardP*"


def window(tables):
    return sense.rows(tables, "summary")[0]["window"].rsplit(", ", 1)[0]


def check_window(tool, tables, first, end):
    """On a busy machine probes may come late. The window is shifted then, and a message says so."""
    begin, until = (int(n) for n in re.findall(r"\d+", window(tables)))
    assert until - begin == end - first, window(tables)
    late = re.search(r"opened (\d+) steps? later than asked", json.dumps(tables))
    assert begin - first == (int(late[1]) if late else 0), window(tables)
    assert not late or tool.said("capture.window-late", f"{late[1]} step"), tool.err


@test("schedules: one recording and one trace for each span")
def schedules(case):
    job = case.job("train.py").wait_steps(3)
    for schedule, windows, steps in (
            ("skip_first=1,closed=1,ready=1,record=4,repeat=3",
             [(3, 7), (9, 13), (15, 19)], 4),
            ("skip_first=1,wait=2,warmup=1,active=2,repeat=2", [(4, 6), (9, 11)], 2)):
        tool = case.tool("-p", job.pid, "--schedule", schedule).done()
        assert len(tool.recordings()) == len(windows), tool.recordings()
        # HOST_PID.ptrec is the first, HOST_PID.N.ptrec the following.
        found = sorted((report(r) for r in tool.recordings()),
                       key=lambda t: int(window(t)[7:].split(",")[0]))
        for tables, (first, end) in zip(found, windows):
            check_window(tool, tables, first, end)
            sense.check(tables, steps)
        traces = sorted(tool.dir.glob("*.pt.trace.json.gz"))
        assert len(traces) == len(windows), traces
        for trace in traces:
            sense.check_trace(trace, steps)
        assert tool.out.count("Model Summary") == len(windows)


@test("--in-memory: tables, a page and a trace, and no other file")
def in_memory(case):
    job = case.job("train.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "2:6", "--in-memory", "--format", "json").done()
    tables = json.loads(tool.out)
    check_window(tool, tables, 2, 6)
    sense.check(tables, 4)
    assert sorted(f.name for f in tool.dir.iterdir()) == ["stderr", "stdout"], list(tool.dir.iterdir())
    (case.dir / "pages").mkdir()
    tool = case.tool("-p", job.pid, "--schedule", "skip_first=1,wait=2,record=3,repeat=2", "--in-memory", "--no-report",
                     "--trace", case.dir / "t.json.gz", "--html", case.dir / "pages/").done()
    for trace in "t.json.gz", "t.1.json.gz":
        sense.check_trace(case.dir / trace, 3)
    assert len(list((case.dir / "pages").glob("*.html"))) == 2
    assert ".ptrec" not in tool.err + tool.out and "/proc/self" not in tool.err, tool.err
    assert sorted(f.name for f in tool.dir.iterdir()) == ["stderr", "stdout"], list(tool.dir.iterdir())
    case.tool("-p", job.pid, "--in-memory", "-o", "x").fails("cli.in-memory-excludes-output")
    case.tool("-p", job.pid, "--in-memory", "--no-report").fails("cli.in-memory-without-result")


@test("--trace FILE and several windows: a trace for each, numbered as the recordings")
def numbered_traces(case):
    job = case.job("train.py").wait_steps(3)
    for options, trace, later in (
            (("--schedule", "skip_first=1,wait=2,record=3,repeat=2"), "y.json.gz", "y.1.json.gz"),
            (("--record", "0:1000000", "--dump-every", "1s", "--duration", "3s"),
             "d.pt.trace.json", "d.1.pt.trace.json")):
        tool = case.tool("-p", job.pid, *options, "--output", case.dir / f"{trace}.ptrec",
                         "--trace", case.dir / trace).done()
        counts = []
        for name, recording in ((trace, f"{trace}.ptrec"), (later, f"{trace}.1.ptrec")):
            assert tool.said("cli.trace-written", case.dir / name), tool.err
            steps = window(report(case.dir / recording))
            first, end = (int(n) for n in re.findall(r"\d+", steps))
            sense.check_trace(case.dir / name, end - first)
            counts.append(first)
        assert counts[0] < counts[1], counts


@test("--duration, Ctrl-C, a second Ctrl-C, and Ctrl-C before the window")
def ends(case):
    job = case.job("train.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--duration", "1.5s").done()
    tables = tool.report("--time-unit", "s")
    sense.check(tables)
    seconds = float(sense.rows(tables, "summary")[0]["window"].split(", ")[1].split()[0])
    assert 1.4 < seconds < 2.5, seconds

    tool = case.tool("-p", job.pid).wait_recording()
    time.sleep(0.5)
    tool.interrupt().done()
    sense.check(tool.report())
    assert sense.titles(tool.out), tool.out

    tool = case.tool("-p", job.pid).wait_recording()
    time.sleep(0.3)
    tool.interrupt()
    time.sleep(0.01)
    tool.interrupt().fails("cli.recording-aborted", tool.recordings()[0].name)
    assert not tool.out and not list(tool.dir.glob("*.json.gz")), tool.out
    report(tool.recordings()[0])

    tool = case.tool("-p", job.pid, "--record", "100000:100002")
    time.sleep(1.5)
    tool.interrupt().fails(STOPPED)
    assert not tool.recordings()

    tool = case.tool("-p", job.pid, "--record", "100000:100002", "--duration", "1s")
    tool.fails("capture.window-timed-out")
    job.wait_steps(3)


@test("--limit-size: the trace ends before it is larger, and says so; the recording has all")
def limit_size(case):
    job = case.job("train.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "2:14", "--detail", "inner", "--no-prune",
                     "--limit-size", "1M").done()
    sense.check(tool.report(), 12)
    text = gzip.open(next(tool.dir.glob("*.json.gz"))).read()
    assert len(text) <= 1 << 20, len(text)
    assert json.loads(text)["proftrace"]["truncated"] is True
    (cut,) = [e for e in json.loads(text)["traceEvents"] if e["name"] == "cut by --limit-size"]
    assert 0 < cut["args"]["whole_steps"] < cut["args"]["steps"] == 12, cut
    assert tool.said("exporters.trace-limited"), tool.err


@test("a window that is far away: --record 400:404")
def far(case):
    job = case.job("train.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "400:404").done()
    tables = tool.report()
    sense.check(tables, 4)
    check_window(tool, tables, 400, 404)
    assert calls(tables, "aten::conv2d") == 40


@test("windows far apart: the steps between them are counted, though few probes are there then")
def far_apart(case):
    for how in ((), ("--no-loader",)):
        job = case.job("mlp_train.py", "--sleep-ms", 1, *how).wait_steps(5)
        tool = case.tool("-p", job.pid, "--schedule", "closed=3000,record=2,repeat=2",
                         "--count-each-step", "--verbose").done(timeout_s=120)
        assert "between windows" in tool.err, tool.err
        assert len(tool.recordings()) == 2, tool.recordings()
        distances = {distance(job, r) for r in tool.recordings()}
        assert len(distances) == 1, (how, distances)
        for recording in tool.recordings():
            sense.check(report(recording), 2)


@test("far from a window no probe is in the job, and its steps are counted all the same")
def without_probes(case):
    for how in ((), ("--no-loader",)):
        job = case.job("mlp_train.py", "--sleep-ms", 1, *how).wait_steps(5)
        tool = case.tool("-p", job.pid, "--schedule", "closed=6000,record=8,repeat=2", "--verbose")
        process.wait_for(lambda: "counted without probes" in tool.err, 60, "the steps' count")
        process.wait_for(lambda: not process.changed_text(job.pid), 10, "the last probe's end")
        tool.done(timeout_s=120)
        assert len(tool.recordings()) == 2, tool.recordings()
        assert not tool.said("capture.step-number-uncertain"), tool.err
        distances = {distance(job, r) for r in tool.recordings()}
        assert len(distances) == 1, (how, distances)
        for recording in tool.recordings():
            tables = report(recording)
            sense.check(tables, 8)
            rule = sense.rows(tables, "summary")[0]["step_rule"]
            assert re.search(r"; \d{4,} steps before were not seen, but counted", rule), rule


@test("a job that becomes much faster while no probe is in it: the window is still found")
def quicker(case):
    job = case.job("mlp_train.py", "--sleep-ms", 15, "--quick-after", 600).wait_steps(5)
    tool = case.tool("-p", job.pid, "--record", "1500:1504").done(timeout_s=120)
    assert not tool.said("capture.step-number-uncertain"), tool.err
    tables = tool.report()
    sense.check(tables, 4)
    check_window(tool, tables, 1500, 1504)
    begin = int(re.search(r"\d+", window(tables))[0])
    assert begin < 1800, begin
    rule = sense.rows(tables, "summary")[0]["step_rule"]
    assert "not seen, but counted by backward passes (1 a step" in rule, rule


@test("steps that turn out not to be alike are seen one by one again, and that is said")
def not_alike(case):
    job = case.job("mlp_train.py", "--sleep-ms", 1, "--forward-only", 500).wait_steps(5)
    tool = case.tool("-p", job.pid, "--record", "7000:7002").done(timeout_s=120)
    assert tool.said("capture.step-number-uncertain", "not all steps were alike while they were counted"), tool.err
    tables = tool.report()
    sense.check(tables, 2)
    rule = sense.rows(tables, "summary")[0]["step_rule"]
    assert rule.endswith("not all were alike: step numbers may be wrong"), rule


@test("a thread that fetches batches ahead makes no steps")
def prefetch(case):
    job = case.job("mlp_train.py", "--prefetch").wait_steps(5)
    tool = case.tool("-p", job.pid, "--record", "2:12").done()
    tables = tool.report()
    rule = sense.rows(tables, "summary")[0]["step_rule"]
    assert rule.startswith("Optimizer.step: another thread asks the data loader"), rule
    model = sense.by_name(tables, "model")
    assert [model[name]["calls"] for name in ("Forward", "Backward", "Optimization")] == [10] * 3
    distance(job, tool.recordings()[0])


@test("--timer-only: steps and throughput as the job's own, by the loader's and optimizer's ranges")
def timer_only(case):
    job = case.job("train.py").wait_steps(3)
    before = len(job.steps())
    tool = case.tool("-p", job.pid, "--timer-only", "--record", "2:10").done()
    job.wait_steps(1)
    tables = tool.report()
    summary = sense.rows(tables, "summary")[0]
    assert (summary["steps"], summary["detail"]) == (8, "timer"), summary
    assert "Perf Summary" in tool.out and "Operator Summary" not in tool.out, tool.out
    assert "; 6 probe hits per step\n" in tool.out, tool.out
    assert not list(tool.dir.glob("*.json.gz")), "a trace was written"
    perf = sense.by_name(tables, "perf")
    own = sorted(job.steps()[before:])
    assert own[0] / 1e9 * 0.9 < perf["batch_cost"]["avg"] < own[-1] / 1e9 * 1.1, (perf, own)
    assert 0 < perf["reader_cost"]["avg"] < perf["batch_cost"]["avg"], perf
    steps = sense.rows(tables, "steps")
    assert len(steps) == 8 and all(s["dataloader_ns"] > 0 and s["backward_ns"] is None for s in steps)
    tables = tool.report("--table", "model,overview")
    for name in ("model", "overview"):
        assert not sense.rows(tables, name) and "--timer-only" in tables[name]["notes"][0], tables
    case.tool("-p", job.pid, "--timer-only", "--profile-memory").fails(
        "cli.timer-only-excludes", "--profile-memory")


def without_nonce(path):
    text = path.read_text()
    nonce = re.search(r"nonce-([0-9a-f]+)", text)
    assert nonce, f"{path}: {text[:300]}"
    return text.replace(nonce[1], "")


@test("--html beside a capture: the page of `report --html`, one per recording in a directory")
def html(case):
    job = case.job("train.py").wait_steps(3)
    page, later = case.dir / "live.html", case.dir / "later.html"
    tool = case.tool("-p", job.pid, "--record", "2:6", "--html", page).done()
    assert "Model Summary" in tool.out, tool.out
    subprocess.run([PROFTRACE, "report", "-q", "--html", later, tool.recordings()[0]], check=True)
    assert without_nonce(page) == without_nonce(later), "the pages differ"

    pages = case.dir / "pages"
    tool = case.tool("-p", job.pid, "--schedule", "ready=1,record=2,repeat=2", "--html",
                     f"{pages}/").done()
    assert len(tool.recordings()) == 2, tool.recordings()
    assert sorted(p.stem for p in pages.iterdir()) == sorted(r.stem for r in tool.recordings())
    case.tool("-p", job.pid, "--schedule", "ready=1,record=2,repeat=2", "--html", page).fails(
        "cli.page-no-directory", page)


@test("--step-probe: a function that runs once per step")
def step_probe(case):
    job = case.job("train.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "2:10", "--step-probe", BACKWARD).done()
    tables = tool.report()
    sense.check(tables, 8)
    assert sense.rows(tables, "summary")[0]["step_rule"].startswith("--step-probe"), tool.out
    model = sense.by_name(tables, "model")
    assert model["Backward"]["calls"] == model["Forward"]["calls"] == 8, tool.out
    assert model["Others"]["cpu_ratio_percent"] < 35, tool.out
    case.tool("-p", job.pid, "--record", "2:10", "--step-probe", "libtorch_python.so:nope").fails(
        "capture.function-not-found*", "libtorch_python.so:nope")


@test("--step-probe: an operator by the name that tables have")
def step_operator(case):
    job = case.job("train.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "2:10", "--step-probe", "aten::cross_entropy_loss").done()
    tables = tool.report()
    sense.check(tables, 8)
    assert sense.by_name(tables, "model")["Backward"]["calls"] == 8, tool.out
    case.tool("-p", job.pid, "--record", "2:10", "--step-probe", "aten::nope").fails(
        "capture.function-not-found*", "at::_ops::nope::call")
    case.tool("-p", job.pid, "--record", "2:10", "--step-probe", "aten::min", "--step-timeout", "1s").fails(
        "capture.steps-of-overloaded-missing", 1, "--step-probe", "aten::min", "aten::min.dim")
    tool = case.tool("-p", job.pid, "--record", "2:10", "--timer-only", "--step-probe", "aten::cross_entropy_loss")
    tables = tool.done().report()
    assert sense.rows(tables, "cost")[0]["hits_per_step"] == 1, tool.out
    assert "reader_cost" not in sense.by_name(tables, "perf"), tool.out
    assert any("that one probe" in note for note in tables["perf"]["notes"]), tool.out


@test("--step-range: a range of the user's around each step")
def step_range(case):
    job = case.job("train.py", "--range", "my step").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "2:10", "--step-range", "my step").done()
    tables = tool.report()
    sense.check(tables, 8)
    assert sense.rows(tables, "summary")[0]["step_rule"].startswith("--step-range"), tool.out
    assert sense.by_name(tables, "userdefined")["my step"]["calls"] == 8, tool.out

    case.tool("-p", job.pid, "--record", "2:10", "--step-range", "nope", "--step-timeout",
              "2s").fails("capture.steps-of-rule-missing", 2)


@test("attached by perf events (--attach-method perf): the same tables")
def perf_events(case):
    job = case.job("train.py").wait_steps(3)
    found = {}
    for method in ("multi", "perf"):
        tool = case.tool("-p", job.pid, "--record", "2:10", "--no-prune",
                         "--attach-method", method).done()
        assert all(m.level != "warning" for m in tool.messages()), tool.err
        found[method] = tool.report()
        sense.check(found[method], 8)
    for table, key in (("overview", "event_type"), ("model", "name"), ("userdefined", "name"),
                       ("operator", "name")):
        multi, perf = ({k: r["calls"] for k, r in sense.by_name(found[m], table, key).items()
                        if k != "Dataloader"} for m in ("multi", "perf"))
        assert multi == perf, (multi, perf)
    # Findings depend on what else runs on the machine.
    tables = [set(found[method]) - {"findings"} for method in ("multi", "perf")]
    assert tables[0] == tables[1], tables


@test("--start-after: the job is left alone until then")
def start_after(case):
    job = case.job("train.py").wait_steps(3)
    begin = time.monotonic()
    tool = case.tool("-p", job.pid, "--record", "0:2", "--start-after", "3s", "--no-trace")
    while time.monotonic() - begin < 2.5:
        assert not process.is_probed(job.pid), "it has probes already"
        time.sleep(0.2)
    tool.done()
    assert time.monotonic() - begin > 3
    assert tool.said("capture.start-awaited", job.pid, "3 s"), tool.err
    sense.check(tool.report(), 2)

    tool = case.tool("-p", job.pid, "--record", "0:2", "--start-after", "60s")
    process.wait_for(lambda: tool.said("capture.start-awaited"), 30, "its first words")
    tool.interrupt().fails(STOPPED)
    case.tool("-p", job.pid, "--start-at", "yesterday").fails("cli.start-at-invalid", "yesterday")


def opened_at(path, database):
    """Seconds since 1970."""
    subprocess.run([PROFTRACE, "export", "--format", "sqlite", path, "-o", database], check=True)
    facts = dict(sqlite3.connect(database).execute("SELECT key, value FROM facts"))
    begin_ns = json.loads(facts["summary"])["windows"][0]["begin_ns"]
    return (begin_ns + int(facts["wall_offset_ns"])) / 1e9


@test("--start-at: windows of several jobs begin at that time")
def start_at(case):
    jobs = [case.job("mlp_train.py", "--sleep-ms", ms).wait_steps(3) for ms in (0, 200)]
    at = int(time.time() + 12 * process.PATIENCE)
    tools = [case.tool("-p", job.pid, "--start-at", f"@{at}", "--duration", "2s", "--no-trace", "-o",
                       f"at.{job.pid}.ptrec") for job in jobs]
    for job, tool in zip(jobs, tools):
        tool.done()
        assert not tool.said("capture.start-late"), tool.err
        late_s = opened_at(tool.dir / f"at.{job.pid}.ptrec", tool.dir / f"at.{job.pid}.db") - at
        assert 0 <= late_s < 0.5 * process.PATIENCE, f"{late_s} s late"


@test("hits are those of the window, not of the steps before it")
def hits(case):
    # Some functions have no span. Their calls are counted with the next call that has a span. A
    # step's length must not decide which functions have a probe.
    with subprocess.Popen([PYTHON, WORKLOADS / "bench_job.py", "mlp"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as job:
        pid = json.loads(job.stdout.readline())["pid"]
        print("spin", file=job.stdin, flush=True)
        try:
            per_step = [
                case.tool("-p", pid, "--record", wanted, "--no-prune").done()
                .report()["cost"]["rows"][0]["hits_per_step"] for wanted in ("2:402", "100:104")]
        finally:
            job.kill()
    assert abs(per_step[0] - per_step[1]) <= 0.2 * per_step[0], per_step
