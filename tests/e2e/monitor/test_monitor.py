# SPDX-License-Identifier: BSD-2-Clause
import os
import pathlib
import signal
import subprocess
import time

from lib import process
from lib.job import ENV, PYTHON, WORKLOADS
from lib.process import Snapshot
from lib.runner import test
from lib.tool import check_step_times, report, row
from monitored import Monitor, command, own

EXPECTED = {
    "proftrace_job_info": "gauge", "proftrace_steps": "counter", "proftrace_sampled_steps": "counter",
    "proftrace_step_duration_seconds": "histogram", "proftrace_phase_seconds": "counter",
    "proftrace_operator_seconds": "counter", "proftrace_finding_ratio": "gauge",
    "proftrace_regression": "gauge", "proftrace_regression_ratio": "gauge", "proftrace_regression_resets": "counter", "proftrace_straggler_ratio": "gauge",
    "proftrace_device_busy_seconds": "counter", "proftrace_device_sampled_seconds": "counter",
    "proftrace_device_windows": "counter",
    "proftrace_build_info": "gauge", "proftrace_monitor_overhead_ratio": "gauge",
    "proftrace_monitor_budget_ratio": "gauge", "proftrace_monitor_windows": "counter",
    "proftrace_monitor_job_windows": "counter", "proftrace_monitor_job_window_ranks_missing": "counter",
    "proftrace_monitor_events_lost": "counter", "proftrace_monitor_attach_failures": "counter",
    "proftrace_monitor_held": "gauge", "proftrace_monitor_unwatched_processes": "gauge", "proftrace_monitor_memory_bytes": "gauge",
    "proftrace_monitor_series_dropped": "counter", "proftrace_monitor_reloads": "counter",
    "proftrace_monitor_pushes": "counter", "process_cpu_seconds": "counter",
    "process_start_time_seconds": "gauge", "proftrace_monitor_last_update_timestamp_seconds": "gauge",
}


def named(case, name, *args, workload="train.py", **settings):
    return case.job("named.py", own(name), workload, *args, fresh=True, **settings).wait_steps(5)


def counts_alike(monitor, *jobs):
    """Returns the steps counted by the monitor and by each job. The jobs stand still meanwhile."""
    for job in jobs:
        job.signal(signal.SIGSTOP)
    look, since = None, time.monotonic()
    # Steps are asked for each 5 s; beside other work an answer was once 7 s old.
    while time.monotonic() - since < 9:
        latest = [(monitor.rank(job)["steps"], job.made.look()) for job in jobs]
        if latest != look:
            look, since = latest, time.monotonic()
        time.sleep(0.5)
    for job in jobs:
        job.signal(signal.SIGCONT)
    return look


def check_metrics(monitor, jobs):
    families = monitor.families()
    assert {name: kind for name, (kind, _) in families.items()} == EXPECTED, families.keys()
    for job in jobs:
        rank = monitor.rank(job)
        own = {"job_name": rank["job_name"], "rank": rank["rank"]}

        def of(name, **labels):
            return sum(value for _, samples in families.values() for sample, has, value in samples
                       if sample == name and (own | labels).items() <= has.items())

        sampled = of("proftrace_sampled_steps_total")
        assert sampled >= 2 and of("proftrace_step_duration_seconds_count") == sampled, own
        assert of("proftrace_step_duration_seconds_bucket", le="+Inf") == sampled, own
        step_s = of("proftrace_step_duration_seconds_sum")
        phase_s = of("proftrace_phase_seconds_total")
        assert abs(phase_s / step_s - 1) < 0.02, (phase_s, step_s)
        assert 0 < of("proftrace_operator_seconds_total") < 1.1 * step_s, own
        assert of("proftrace_job_info", framework="PyTorch", pid=str(job.pid)) == 1, families
        assert 0 < of("proftrace_monitor_overhead_ratio") < 0.5, families
    memory = {has["kind"]: value for _, has, value in families["proftrace_monitor_memory_bytes"][1]}
    assert all(1e6 < value < 1e9 for value in memory.values()), memory
    unwatched = {has["reason"]: value
                 for _, has, value in families["proftrace_monitor_unwatched_processes"][1]}
    assert unwatched["no_framework"] >= 1, unwatched


def check_windows(monitor, job):
    """The windows whose figures are shown, in the job's own step numbers."""
    rank = monitor.rank(job)
    recordings = sorted(monitor.store.glob(f"*_{job.pid}_*"), key=lambda path: path.stat().st_mtime)
    read = recordings[:[path.name for path in recordings].index(rank["latest_recording"]) + 1]
    # On a busy host a window may close before it has a whole step.
    reports = [tables for tables in map(report, read) if row(tables, "summary")["steps"]]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in recordings), recordings
    assert len(reports) == rank["windows"], (len(reports), rank["windows"])
    assert sum(row(tables, "summary")["steps"] for tables in reports) == rank["sampled_steps"], rank
    for tables in reports:
        check_step_times(tables, job.steps())


@test("two jobs, one begun later: steps counted as the jobs do, windows, metrics; the end of one; SIGTERM leaves nothing")
def finds_and_exports(case):
    first = named(case, "t-a")
    before = Snapshot(first.pid)
    monitor = Monitor(case, own("t-"))
    monitor.wait_windows(first, 1)
    second = named(case, "t-<b>&", "--model", "transformer")
    monitor.wait_windows(second, 2)
    begin = counts_alike(monitor, first, second)
    monitor.wait_windows(first, 3)
    first.wait_steps(100)
    end = counts_alike(monitor, first, second)
    for (ours, theirs), (ours_later, theirs_later) in zip(begin, end):
        # The job writes a step's line after the step.
        assert abs((ours_later - ours) - (theirs_later - theirs)) <= 1, (begin, end)
        assert theirs_later - theirs >= 50, (begin, end)
    check_metrics(monitor, (first, second))
    check_windows(monitor, first)
    page = monitor.text("/")
    assert "t-&lt;b&gt;&amp;" in page and "<b>" not in page, page
    second.stop()
    process.wait_for(lambda: monitor.rank(second)["state"] == "ended", 40, "the end of the second job")
    sessions = [pid for pid in monitor.own() if "record" in command(pid) and str(second.pid) in command(pid)]
    assert not sessions, sessions
    assert monitor.end() == 0, monitor.tool.err
    first.wait_steps(5)
    before.check()
    # A message must say that the jobs stood still.
    warnings = [m for m in monitor.tool.messages() if m.level == "warning"]
    assert all(m.key == "capture.target-stopped" for m in warnings), monitor.tool.err


def stop_all(launcher):
    """Each rank has its own session."""
    for pid in [*process.descendants(launcher.pid), launcher.pid]:
        os.kill(pid, signal.SIGKILL)
    launcher.wait()


@test("ranks below torchrun are one job, by the name and numbers that it gave them; torchrun itself is none")
def torchrun(case):
    log = case.dir / "ddp.log"
    with open(case.dir / "out", "w") as out:
        launcher = subprocess.Popen(
            [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-id", "night", "--rdzv-backend",
             "c10d", "--rdzv-endpoint", "127.0.0.1:0", WORKLOADS / "named.py", "--steps-to", log, own("ddp"), "ddp.py"],
            stdout=out, stderr=out, env=ENV, start_new_session=True)
    case.finally_(stop_all, launcher)
    monitor = Monitor(case, own("ddp"))
    process.wait_for(lambda: len(monitor.ranks()) == 2, 60, "two ranks")
    assert {(r["job_name"], r["rank"]) for r in monitor.ranks()} == {("torchelastic-night", "0"),
                                                                     ("torchelastic-night", "1")}, monitor.ranks()
    assert launcher.pid not in [r["pid"] for r in monitor.ranks()]
    process.wait_for(lambda: monitor.value("proftrace_monitor_unwatched_processes", reason="part_of_job") >= 1, 40,
                     "a launcher that is not watched")
    process.wait_for(lambda: all(r["steps"] for r in monitor.ranks()), 120, "steps of both ranks")
    assert monitor.end() == 0, monitor.tool.err


@test("job:PID is the ranks that this process started: allowed alone, or denied; a process that is gone is an error")
def job_rules(case):
    with open(case.dir / "out", "w") as out:
        launcher = subprocess.Popen(
            ["sh", "-c", f"{PYTHON} -m torch.distributed.run --standalone --nproc-per-node 2 {WORKLOADS / 'named.py'} "
             f"--steps-to {case.dir / 'ddp.log'} {own('below')} ddp.py; true"],
            stdout=out, stderr=out, env=ENV, start_new_session=True)
    case.finally_(stop_all, launcher)
    beside = named(case, "beside")
    monitor = Monitor(case, own("none"), "--allow", f"job:{launcher.pid}")
    process.wait_for(lambda: {r["rank"] for r in monitor.ranks()} == {"0", "1"}, 60, "two ranks")
    assert beside.pid not in [r["pid"] for r in monitor.ranks()], monitor.ranks()
    assert set(r["pid"] for r in monitor.ranks()) <= set(process.descendants(launcher.pid))
    assert monitor.end() == 0, monitor.tool.err
    monitor = Monitor(case, own("be"), "--deny", f"job:{launcher.pid}")
    process.wait_for(lambda: [r["pid"] for r in monitor.ranks()] == [beside.pid], 40, "the other process alone")
    assert monitor.value("proftrace_monitor_unwatched_processes", reason="denied") >= 2
    assert monitor.end() == 0, monitor.tool.err
    case.tool("monitor", "--check", "--allow", f"job:{2 ** 22 + 1}").fails("monitor.rule-job-missing", 2 ** 22 + 1)


@test("SIGKILL of the monitor: its sessions end, the job goes on as it was")
def killed(case):
    job = named(case, "kill")
    before = Snapshot(job.pid)
    monitor = Monitor(case, own("kill"))
    monitor.wait_windows(job, 1)
    process.wait_for(lambda: monitor.rank(job)["state"] == "recording", 40, "an open window")
    assert monitor.end(signal.SIGKILL) == -signal.SIGKILL
    job.wait_steps(20)
    before.check()


@test("a process that exports has neither rights nor root; other processes are not watched, each for a reason")
def exporter_has_no_rights(case):
    job = named(case, "r-a")
    denied = named(case, "r-no")
    monitor = Monitor(case, own("r-"), "--deny", "command:*-no")
    monitor.wait_windows(job, 1)
    exporter, = [pid for pid in monitor.own() if command(pid)[1] == "monitor"]
    status = dict(line.split(":\t", 1) for line in
                  pathlib.Path(f"/proc/{exporter}/status").read_text().splitlines())
    assert all(int(status[name], 16) == 0 for name in ("CapPrm", "CapEff", "CapInh", "CapBnd", "CapAmb")), status
    assert status["Uid"].split() == ["65534"] * 4 and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
    process.wait_for(lambda: monitor.value("proftrace_monitor_unwatched_processes", reason="denied") == 1, 40,
                     "a denied process")
    assert monitor.rank(denied) is None
    assert monitor.end() == 0, monitor.tool.err


@test("a session that is killed: counted, tried again, and the counters of the job go on")
def session_killed(case):
    job = named(case, "again")
    monitor = Monitor(case, own("again"))
    steps = monitor.wait_windows(job, 1)["steps"]
    session, = [pid for pid in process.children(monitor.pid) if "record" in command(pid)]
    os.kill(session, signal.SIGKILL)
    process.wait_for(lambda: monitor.value("proftrace_monitor_attach_failures_total", reason="killed") == 1, 40,
                     "a failure")
    again = monitor.wait_windows(job, 2)
    assert again["rank"] == "u0" and again["steps"] > steps, again
    # After the second failure there is no new session for ten minutes.
    session, = [pid for pid in process.children(monitor.pid) if "record" in command(pid)]
    os.kill(session, signal.SIGKILL)
    process.wait_for(lambda: monitor.value("proftrace_monitor_unwatched_processes", reason="backoff") == 1, 40,
                     "a process that is left alone")
    assert monitor.rank(job)["state"] == "backoff", monitor.rank(job)
    assert monitor.value("proftrace_steps_total", job_name=again["job_name"]) is None
    job.wait_steps(5)
    job.stop()
    process.wait_for(lambda: monitor.rank(job)["state"] == "ended", 40, "the end of the job")
    assert monitor.end() == 0, monitor.tool.err


@test("a step of over a minute in an open window: the session is not ended, the window is read when the step ends")
def long_step(case):
    job = named(case, "long")
    monitor = Monitor(case, own("long"))
    windows = monitor.wait_windows(job, 1)["windows"]
    process.wait_for(lambda: monitor.rank(job)["state"] == "recording", 60, "an open window")
    job.signal(signal.SIGSTOP)
    time.sleep(80)  # CLOSE_NS and more
    assert monitor.rank(job)["state"] in ("recording", "waiting"), monitor.rank(job)
    job.signal(signal.SIGCONT)
    monitor.wait_windows(job, windows + 1)
    assert monitor.value("proftrace_monitor_attach_failures_total", reason="timeout") == 0
    assert monitor.value("proftrace_monitor_windows_total", result="timeout") == 0
    assert monitor.end() == 0, monitor.tool.err


@test("answers reading alone, this host alone, by its own name alone; a unix socket")
def http(case):
    monitor = Monitor(case, own("none"))
    assert monitor.ask("/x")[0] == 404
    assert monitor.ask("/../etc/passwd")[0] == 404
    assert monitor.ask("/metrics", "POST")[0] == 405
    assert monitor.ask("/metrics", "HEAD")[2] == ""
    assert monitor.ask("/metrics", headers={"Host": "evil.example"})[0] == 403
    status, headers, _ = monitor.ask("/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers
    assert "No job is watched" in monitor.text("/")
    other = case.tool("monitor", "--listen", monitor.place, "--store", monitor.store)
    other.fails("monitor.listen-place-taken", monitor.place)
    assert monitor.end() == 0, monitor.tool.err
    path = case.dir / "socket"
    monitor = Monitor(case, own("none"), place=path)
    assert path.stat().st_mode & 0o777 == 0o600
    monitor.families()
    assert monitor.end() == 0 and not path.exists(), monitor.tool.err


@test("a process that exports is killed, another stands still: a new one goes on, the session stays; the end waits for none")
def exporter_lost(case):
    job = named(case, "exp")
    monitor = Monitor(case, own("exp"))
    monitor.wait_windows(job, 1)
    session, = [pid for pid in process.children(monitor.pid) if "record" in command(pid)]

    def exporter():
        found = [pid for pid in process.children(monitor.pid) if command(pid)[1:2] == ["monitor"]]
        return found[0] if found else 0

    for sig, why in ((signal.SIGKILL, "monitor.exporter-ended"), (signal.SIGSTOP, "monitor.exporter-silent")):
        before = exporter()
        os.kill(before, sig)
        process.wait_for(lambda: exporter() not in (0, before), 60, f"another one after {sig}")
        assert monitor.tool.said("monitor.exporter-restarted") and monitor.tool.said(why), monitor.tool.err
        monitor.wait_windows(job, 1)
    assert session in process.children(monitor.pid)
    assert monitor.value("proftrace_monitor_attach_failures_total", reason="failed") == 0
    os.kill(exporter(), signal.SIGSTOP)
    assert monitor.end() == 0, monitor.tool.err


@test("SIGHUP: it says that there is no file to read, and goes on; under nohup nothing; SIGTERM ends it")
def hangup(case):
    monitor = Monitor(case, own("none"))
    os.kill(monitor.pid, signal.SIGHUP)
    process.wait_for(lambda: monitor.tool.said("cli.monitor-without-config"), 10, "a message")
    assert monitor.ask("/health")[0] == 200
    assert monitor.end() == 0, monitor.tool.err
    monitor = Monitor(case, own("none"), wrap=["nohup"])
    os.kill(monitor.pid, signal.SIGHUP)
    time.sleep(2)
    assert monitor.ask("/health")[0] == 200 and not monitor.tool.said("monitor.config-not-changed"), monitor.tool.err
    assert monitor.end() == 0, monitor.tool.err


@test("SIGHUP: reads the file again; one with an error, or with another --store, changes nothing")
def reload(case):
    job = named(case, "reload")
    file = case.dir / "proftrace.conf"
    file.write_text("keep = 2G\n")
    monitor = Monitor(case, own("reload"), "--config", file, budget=())
    process.wait_for(lambda: monitor.rank(job), 30, "its session")
    assert monitor.value("proftrace_monitor_budget_ratio") == 0.005

    def hang_up(text, key, result, cnt):
        file.write_text(text)
        os.kill(monitor.pid, signal.SIGHUP)
        process.wait_for(lambda: monitor.value("proftrace_monitor_reloads_total", result=result) == cnt, 20, text)
        assert monitor.tool.said(key), monitor.tool.err

    hang_up("bugdet = 1%\n", "cli.config-option-unknown-suggested", "refused", 1)
    hang_up("store = /elsewhere\nbudget = 1%\n", "monitor.config-changed", "ok", 1)  # the command line has another, which holds
    assert monitor.value("proftrace_monitor_budget_ratio") == 0.01
    process.wait_for(lambda: monitor.rank(job)["steps"], 60, "steps of the job, which is watched on")
    hang_up("max-series = 100\nbudget = 3%\n", "cli.monitor-series-needs-restart", "refused", 2)
    assert monitor.value("proftrace_monitor_budget_ratio") == 0.01
    hang_up(f"deny = command:{own('reload')}*\n", "monitor.config-changed", "ok", 2)
    assert monitor.value("proftrace_monitor_budget_ratio") == 0.005
    process.wait_for(lambda: monitor.value("proftrace_monitor_unwatched_processes", reason="denied") == 1, 20, "a rule")
    process.wait_for(lambda: monitor.tool.said("monitor.process-watched-no-longer", job.pid), 20, "its session to end")
    job.wait_steps(3)
    assert monitor.end() == 0, monitor.tool.err


@test("POST with the token of --token-file opens a window of so many steps; without it, or of another process, none")
def record_now(case):
    job = named(case, "post")
    token = case.dir / "token"
    token.write_text("s3cret\n")
    case.tool("monitor", "--token-file", token, "--check").fails("cli.token-readable-by-others", token)
    token.chmod(0o600)
    # The limit on open windows is so small that none opens by itself.
    monitor = Monitor(case, own("post"), "--token-file", token, "--max-duty", "0.001%", budget=())
    path = f"/jobs/{job.pid}/record?steps=8"
    process.wait_for(lambda: monitor.rank(job) and monitor.rank(job)["state"] == "waiting", 60, "its session")
    assert monitor.post(path)[0] == 401 and monitor.post(path, "s3cre")[0] == 401
    assert monitor.post(path, "s3crets")[0] == 401 and monitor.post(path, "S3cret")[0] == 401
    assert monitor.post("/jobs/1/record", "s3cret")[0] == 404
    for steps in ("0", "1001", "-1", "2:10", "8x", ""):
        assert monitor.post(f"/jobs/{job.pid}/record?steps={steps}", "s3cret")[0] == 400, steps
    for other in (f"/jobs/{job.pid}", f"/jobs/{job.pid}/record/", "/jobs/x/record", "/metrics"):
        assert monitor.post(other, "s3cret")[0] == 405, other
    assert monitor.ask(path)[0] == 404 and monitor.rank(job)["windows"] == 0
    status, text = monitor.post(path, "s3cret")
    assert status == 202 and "latest_recording" in text, (status, text)
    rank = monitor.wait_windows(job, 1, 60)
    tables = report(monitor.store / rank["latest_recording"])
    assert row(tables, "summary")["steps"] >= 2, tables["summary"]
    check_step_times(tables, job.steps())
    assert monitor.end() == 0, monitor.tool.err
    monitor = Monitor(case, own("post"))
    assert monitor.post(path, "s3cret")[0] == 403
    assert monitor.end() == 0, monitor.tool.err
    job.wait_steps(3)


@test("takes options from a file, before those of the command line; --check; an error names the line")
def config(case):
    file = case.dir / "proftrace.conf"
    file.write_text("# of this host\n[monitor]\nbudget = 3%\nkeep=2G\ndeny = command:x*\n\n; deny = user:root\n"
                    "deny = user:root\nyoung = 90s\n")
    case.tool("monitor", "--config", file, "--check").done()
    monitor = Monitor(case, own("none"), "--config", file, "--budget", "4%")
    assert monitor.value("proftrace_monitor_budget_ratio") == 0.04
    assert monitor.end() == 0, monitor.tool.err
    file.write_text("keep = 2G\nbugdet = 3%\n")
    case.tool("monitor", "--config", file, "--check").fails("cli.config-line", 2, "did you mean budget?")
    file.write_text("[record]\n")
    case.tool("monitor", "--config", file, "--check").fails("cli.config-line", 1, "[monitor]")
    for line in ("keep = much", "deny = x", "config = y", "check = 1", "keep 2G"):
        file.write_text(line)
        case.tool("monitor", "--config", file, "--check").fails("cli.config-line", 1, line.split()[0])
    file.write_text("listen = 0.0.0.0:1")
    case.tool("monitor", "--config", file, "--check").fails("monitor.listen-invalid", "0.0.0.0:1")
    for line, why in (("deny = command:jupyter*  # notebooks", "cli.config-comment-behind-value"),
                      ("deny = 'command:x*'", "cli.config-value-quoted"), ("keep = 2G\n\0", "cli.config-binary")):
        file.write_text(line)
        case.tool("monitor", "--config", file, "--check").fails(why)
    file.write_text("keep = 2G\n")
    for mode, uid in ((0o666, 0), (0o620, 0), (0o600, 12345)):
        file.chmod(mode)
        os.chown(file, uid, 0)
        case.tool("monitor", "--config", file, "--check").fails("cli.config-writable-by-others", file)
    secret = case.dir / "secret"
    secret.write_text("root:$y$j9T$hash:20000::\n")
    shown = case.tool("monitor", "--config", secret, "--check")
    shown.fails("cli.config-line", 1)
    assert "hash" not in shown.err, shown.err
    case.tool("monitor", "--config", case.dir, "--check").fails("cli.config-unreadable", case.dir, "it is no file")
    case.tool("monitor", "--config", "/no/such", "--check").fails("cli.config-unreadable", "/no/such", "No such file")


@test("refuses other hosts, rules that are none, and a store that others can write to")
def refuses(case):
    case.tool("monitor", "--listen", "0.0.0.0:9477").fails("monitor.listen-invalid", "0.0.0.0:9477")
    case.tool("monitor", "--allow", "python").fails("monitor.rule-invalid", "python")
    case.tool("monitor", "--budget", "0%").fails("cli.monitor-budget-zero")
    case.tool("monitor", "4242").fails("cli.monitor-argument-unexpected", "4242")
    store = case.dir / "open"
    store.mkdir()
    store.chmod(0o777)
    case.tool("monitor", "--store", store, "--listen", case.dir / "s").fails("monitor.store-writable-by-others", store)


@test("--cpu: beyond it no window opens and no session begins, with the reason; steps are counted on")
def limits(case):
    job = named(case, "lim-a")
    monitor = Monitor(case, own("lim-"), "--cpu", "0.0001")  # 60 ms in ten minutes

    def held():
        return {has["reason"] for _, has, value in monitor.families()["proftrace_monitor_held"][1] if value}

    process.wait_for(lambda: monitor.rank(job) and held() == {"cpu"}, 60, f"the limit: {monitor.tool.err}")
    before, windows = monitor.rank(job), sum_windows(monitor)
    late = named(case, "lim-b")
    process.wait_for(lambda: monitor.value("proftrace_monitor_unwatched_processes", reason="limit") == 1, 40,
                     "the second job among those that are not watched")
    process.wait_for(lambda: monitor.rank(job)["steps"] > before["steps"] + 10, 40, "steps")
    # One that was open may end.
    assert sum_windows(monitor) <= windows + 1 and not monitor.rank(late)
    assert monitor.tool.said("monitor.windows-held", "--cpu is used up"), monitor.tool.err
    assert monitor.end() == 0, monitor.tool.err


def sum_windows(monitor):
    return sum(value for _, _, value in monitor.families()["proftrace_monitor_windows"][1])
