# SPDX-License-Identifier: BSD-2-Clause
"""Reads what the monitor sends by itself with OpenTelemetry's own classes. Some receivers are slow, down or hostile."""
import collections
import functools
import json
import math
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from lib import process
from lib.job import ROOT
from lib.runner import Skip, test
from lib.tool import report
from monitored import Monitor, command, own
from receiver import Receiver

OTLP_PYTHON = functools.cache(lambda: subprocess.run([ROOT / "scripts" / "otlp-python"], check=True, text=True,
                                                     stdout=subprocess.PIPE).stdout.strip())
PARSE = """
import sys
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest as Request
print(MessageToJson(Request.FromString(sys.stdin.buffer.read())))
"""
PARTIAL = bytes([0x0a, 2, 8, 7])  # ExportMetricsServiceResponse: partial_success {rejected_data_points: 7}
SCALE = 3


def named(case, name):
    return case.job("named.py", own(name), "train.py", fresh=True).wait_steps(5)


def parse(body):
    """Resources: attributes, and name -> metric; each point's attributes are a dict."""
    done = subprocess.run([OTLP_PYTHON(), "-c", PARSE], input=body, capture_output=True)
    assert done.returncode == 0, done.stderr
    return [(plain(r["resource"]["attributes"]),
             {m["name"]: m for scope in r["scopeMetrics"] for m in scope["metrics"]})
            for r in json.loads(done.stdout)["resourceMetrics"]]


def plain(attributes):
    return {a["key"]: next(iter(a["value"].values()), "") for a in attributes}


def points(metric):
    return next(v for k, v in metric.items() if isinstance(v, dict))["dataPoints"]


def sums(monitor, name):
    """Returns a counter's values by their labels."""
    return {tuple(sorted(labels.items())): value for _, samples in monitor.families().values()
            for sample, labels, value in samples if sample == name}


def pushes(monitor, result, to="otlp"):
    return monitor.value("proftrace_monitor_pushes_total", to=to, result=result)


def own_histogram(monitor, cnt):
    """Returns the histogram of the first windows' steps, from the recordings: index of a bucket -> steps."""
    paths = sorted(monitor.store.iterdir(), key=lambda path: path.stat().st_mtime)[:cnt]
    steps = [row["time_ns"] / 1e9 for path in paths
             for row in report(path, "--table", "steps", "--row-limit", "2000")["steps"]["rows"]]
    return steps, collections.Counter(math.ceil(math.log2(s) * 2**SCALE) - 1 for s in steps)


@test("--otlp by https: only to a receiver whose certificate is signed by who is trusted")
def https(case):
    job = named(case, "https")
    own_key, certificate = case.dir / "receiver.pem", case.dir / "certificate"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "1", "-subj", "/CN=receiver", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", own_key, "-out", certificate], check=True, capture_output=True)
    with open(own_key, "a") as file:
        file.write(certificate.read_text())
    certificate.chmod(0o644)  # who sends has no rights
    receiver = Receiver(case, own_key)
    options = (own("https"), "--otlp", receiver.url("/v1/metrics"), "--otlp-interval", "1s")
    monitor = Monitor(case, *options)
    process.wait_for(lambda: pushes(monitor, "retried") >= 1, 30, f"a refusal: {monitor.tool.err}")
    assert monitor.end() == 0 and not receiver.got, monitor.tool.err
    monitor = Monitor(case, *options, wrap=("env", f"SSL_CERT_FILE={certificate}"))
    process.wait_for(lambda: receiver.got, 30, f"a body: {monitor.tool.err}")
    assert monitor.end() == 0, monitor.tool.err
    job.wait_steps(3)


@test("--otlp: names, types, resources, values as OpenTelemetry's classes read them, equal to /metrics and recordings")
def otlp(case):
    job = named(case, "otlp")
    receiver = Receiver(case)
    url = os.environ.get("OTLP_URL", receiver.url("/v1/metrics"))  # by hand: a collector's
    monitor = Monitor(case, own("otlp"), "--otlp", url, "--otlp-interval", "1s")
    monitor.wait_windows(job, 2)
    process.wait_for(lambda: pushes(monitor, "ok") >= 5, 30, f"bodies that were taken: {monitor.tool.err}")
    if url.endswith(f":{receiver.port}/v1/metrics"):
        check_bodies(monitor, job, receiver)
    assert pushes(monitor, "refused") == pushes(monitor, "lost") == pushes(monitor, "dropped") == 0
    assert monitor.end() == 0, monitor.tool.err
    job.wait_steps(3)


def check_bodies(monitor, job, receiver):
    phases = "proftrace_phase_seconds_total"
    while True:
        rank, before, cnt = monitor.rank(job), sums(monitor, phases), len(receiver.got)
        process.wait_for(lambda: len(receiver.got) >= cnt + 2, 20, "a later body")
        path, headers, body = receiver.got[-1]
        if sums(monitor, phases) == before:  # no window was read meanwhile
            break
    assert path == "/v1/metrics" and headers["Content-Type"] == "application/x-protobuf", (path, headers)
    (about, metrics), (about_monitor, of_monitor) = parse(body)
    assert about["service.name"] == rank["job_name"] and about["process.pid"] == str(job.pid), about
    assert about["host.name"] == about_monitor["host.name"] == socket.gethostname(), about
    assert about_monitor["service.name"] == "proftrace-monitor", about_monitor
    steps, = points(metrics["proftrace_steps"])
    assert metrics["proftrace_steps"]["sum"]["isMonotonic"], metrics["proftrace_steps"]
    assert 0 <= monitor.rank(job)["steps"] - steps["asDouble"] < 400 and steps["asDouble"] >= rank["steps"], steps
    assert plain(steps["attributes"]) == {"job_name": rank["job_name"], "uid": "0", "rank": rank["rank"]}, steps
    now_ns = time.time() * 1e9
    assert now_ns - 600e9 < int(steps["startTimeUnixNano"]) < int(steps["timeUnixNano"]) < now_ns, steps
    ours = {tuple(sorted(plain(p["attributes"]).items())): p["asDouble"]
            for p in points(metrics["proftrace_phase_seconds"])}
    assert ours == before and metrics["proftrace_phase_seconds"]["unit"] == "s", (ours, before)
    assert "gauge" in of_monitor["proftrace_monitor_memory_bytes"], of_monitor
    assert of_monitor["proftrace_monitor_memory_bytes"]["unit"] == "By", of_monitor
    histogram = metrics["proftrace_step_duration_seconds"]["exponentialHistogram"]
    assert histogram["aggregationTemporality"] == "AGGREGATION_TEMPORALITY_CUMULATIVE", histogram
    check_histogram(histogram["dataPoints"][0], *own_histogram(monitor, rank["windows"]))


def check_histogram(point, steps, want):
    first = point["positive"].get("offset", 0)
    got = {first + i: int(cnt) for i, cnt in enumerate(point["positive"]["bucketCounts"]) if int(cnt)}
    assert point["scale"] == SCALE and got == dict(want), (got, want)
    assert int(point["count"]) == len(steps) and abs(point["sum"] / sum(steps) - 1) < 1e-9, (point, steps)


def pusher(monitor):
    """Returns the process that sends. Only that process has libcurl."""
    found = [pid for pid in process.children(monitor.pid) if "monitor" in command(pid) and
             "libcurl" in pathlib.Path(f"/proc/{pid}/maps").read_text()]
    return found[0] if found else 0


def counted(monitor, result, at_least, timeout_s=40):
    process.wait_for(lambda: pushes(monitor, result) >= at_least, timeout_s,
                     f"{at_least} {result}, {sums(monitor, 'proftrace_monitor_pushes_total')}: {monitor.tool.err}")


@test("--otlp: receivers that are down, full, slow, hostile: all is counted and tried again; no step goes unseen")
def bad_receivers(case):
    job = named(case, "push")
    receiver = Receiver(case)
    receiver.stop()
    monitor = Monitor(case, own("push"), "--otlp", receiver.url("/v1/metrics"), "--otlp-interval", "1s")
    process.wait_for(lambda: monitor.rank(job) and monitor.rank(job)["steps"], 60, "its steps")
    status = dict(line.split(":\t", 1) for line in
                  pathlib.Path(f"/proc/{pusher(monitor)}/status").read_text().splitlines())
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0, status
    assert status["Uid"].split() == ["65534"] * 4 and status["Seccomp"] == "2", status
    # Down: tried later each time; the oldest of more than eight are dropped.
    counted(monitor, "retried", 2)
    counted(monitor, "dropped", 1)
    assert [m.key for m in monitor.tool.messages()].count("monitor.receiver-not-reached") == 1, monitor.tool.err
    receiver.start()
    counted(monitor, "ok", 8, 90)
    assert monitor.tool.said("monitor.receiver-takes-again", "otlp"), monitor.tool.err
    # A full receiver: the monitor must wait as long as the answer says.
    receiver.answer = (429, {"Retry-After": "4"}, b"")
    cnt = len(receiver.got)
    process.wait_for(lambda: len(receiver.got) >= cnt + 3, 60, "two more tries")
    again = [receiver.times[i] - receiver.times[i - 1] for i in range(cnt + 1, cnt + 3)
             if receiver.got[i][2] == receiver.got[i - 1][2]]
    assert again and min(again) >= 4, (again, receiver.times[cnt:])
    # It refuses for good: one try each.
    receiver.answer = (400, {}, b"no")
    counted(monitor, "refused", 3)
    bodies = [body for _, _, body in receiver.got[-3:]]
    assert len(set(bodies)) == 3
    receiver.answer = (200, {}, PARTIAL)
    counted(monitor, "partial", 1)
    # An answer without an end; one that leads elsewhere.
    receiver.answer = (200, {}, None)
    before = pushes(monitor, "ok")
    counted(monitor, "ok", before + 3)
    refused = pushes(monitor, "refused")
    receiver.answer = (307, {"Location": "http://127.0.0.1:1/"}, b"")
    counted(monitor, "refused", refused + 1)
    # A slow receiver has 15 s. Meanwhile steps are counted and pages answered.
    receiver.answer, receiver.wait_s = (200, {}, b""), 25
    retried, steps = pushes(monitor, "retried"), monitor.rank(job)["steps"]
    counted(monitor, "retried", retried + 1, 60)
    assert monitor.rank(job)["steps"] > steps and monitor.rank(job)["windows"] >= 1, monitor.rank(job)
    receiver.wait_s = 0
    # If the sending process ends, its unsent data is counted, and another process starts.
    first = pusher(monitor)
    os.kill(first, signal.SIGKILL)
    process.wait_for(lambda: pusher(monitor) not in (0, first), 30, "another process that sends")
    before = pushes(monitor, "ok")
    counted(monitor, "ok", before + 2)
    assert monitor.end() == 0, monitor.tool.err
    job.wait_steps(3)


def phase_ns(case, body, phase):
    """Sums the phase as pprof itself does."""
    path = case.dir / "profile.pb.gz"
    path.write_bytes(body)
    done = subprocess.run(["go", "tool", "pprof", "-top", "-cum", "-sample_index=cpu", "-unit=ns", "-nodecount=9999",
                           "-nodefraction=0", path], capture_output=True, check=True, text=True, cwd=case.dir)
    lines = [line.split() for line in done.stdout.splitlines() if line.endswith(f" {phase}")]
    assert len(lines) == 1 and not done.stderr, done
    return float(lines[0][3].removesuffix("ns"))


@test("--pprof: each window as a profile with job, rank and time, as Pyroscope takes it; a refusal is counted")
def pprof(case):
    if not shutil.which("go"):
        raise Skip("Go is not installed")
    job = named(case, "pprof")
    receiver = Receiver(case)
    monitor = Monitor(case, own("pprof"), "--pprof", receiver.url("/ingest"))
    begin_s = time.time()
    monitor.wait_windows(job, 2)
    process.wait_for(lambda: pushes(monitor, "ok", "pprof") >= 2, 30, f"profiles: {monitor.tool.err}")
    rank = monitor.rank(job)
    recent = json.loads(monitor.text(f"/jobs/{job.pid}"))["recent_windows"]
    for (path, headers, body), query, window in zip(receiver.got, receiver.queries(), recent):
        assert path.startswith("/ingest?") and headers["Content-Type"] == "application/octet-stream", path
        assert query["format"] == ["pprof"], query
        assert query["name"] == [f"{rank['job_name']}{{host={socket.gethostname()},uid=0}}"], query
        assert begin_s - 1 < int(query["from"][0]) <= int(query["until"][0]) < time.time() + 1, query
        model = {r["name"]: r for r in report(monitor.store / window["recording"], "--table", "model")["model"]["rows"]}
        got, want = phase_ns(case, body, "Optimization"), model["Optimization"]["cpu_total_ns"]
        assert abs(got / want - 1) < 1e-3, (got, want)
    receiver.answer = (403, {}, b"")
    process.wait_for(lambda: pushes(monitor, "refused", "pprof") >= 1, 60, f"a refusal: {monitor.tool.err}")
    assert monitor.tool.said("monitor.receiver-refuses", "pprof", "HTTP 403"), monitor.tool.err
    assert monitor.end() == 0, monitor.tool.err
    job.wait_steps(3)


@test("--otlp, --pprof: a URL that is none, or has a password, is refused; another one needs a restart")
def urls(case):
    for url, why in (("127.0.0.1:4318", "invalid"), ("ftp://x/", "invalid"), ("http://", "invalid"),
                     ("http://u:p@h/", "has-password"), ("http://h/a b", "not-ascii"), ("http://h/#x", "not-ascii")):
        for option in ("otlp", "pprof"):
            case.tool("monitor", f"--{option}", url, "--check").fails(f"monitor.receiver-url-{why}", option)
    file = case.dir / "conf"
    file.write_text("otlp = http://127.0.0.1:1/v1/metrics\notlp-interval = 5s\npprof = https://[::1]:1/ingest\n")
    case.tool("monitor", "--config", file, "--check").done()


@test("--otlp from --config: at SIGHUP it goes on, also with another process that sends; another URL is refused")
def reloaded(case):
    receiver = Receiver(case)
    file = case.dir / "conf"
    file.write_text(f"otlp = {receiver.url('/v1/metrics')}\notlp-interval = 1s\n")
    monitor = Monitor(case, own("none"), "--config", file)
    counted(monitor, "ok", 2)
    os.kill(monitor.pid, signal.SIGHUP)
    process.wait_for(lambda: monitor.value("proftrace_monitor_reloads_total", result="ok") == 1, 20, monitor.tool.err)
    first = pusher(monitor)
    os.kill(first, signal.SIGKILL)
    process.wait_for(lambda: pusher(monitor) not in (0, first), 30, "another process that sends")
    counted(monitor, "ok", pushes(monitor, "ok") + 2)
    file.write_text("otlp = http://127.0.0.1:1/\n")
    os.kill(monitor.pid, signal.SIGHUP)
    process.wait_for(lambda: monitor.value("proftrace_monitor_reloads_total", result="refused") == 1, 20,
                     monitor.tool.err)
    assert monitor.tool.said("cli.monitor-receivers-need-restart"), monitor.tool.err
    assert monitor.end() == 0, monitor.tool.err
