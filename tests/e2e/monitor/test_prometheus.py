# SPDX-License-Identifier: BSD-2-Clause
"""share/proftrace: a real Prometheus scrapes a real monitor, and every expression has an answer."""
import functools
import json
import subprocess
import urllib.parse
import urllib.request

from lib import process
from lib.job import ROOT
from lib.runner import test
from monitored import Monitor, free_port, own

SHARE = ROOT / "share" / "proftrace"
BIN = functools.cache(lambda: subprocess.run([ROOT / "scripts" / "prometheus"], check=True, text=True,
                                             stdout=subprocess.PIPE).stdout.strip())
# Metrics that have no value in a short run without trouble.
EMPTY = {"Findings of the latest window, share of the step", "Slower than at first", "Processes that are not watched",
         "GPUs: kernels run, share of the steps"}


class Prometheus:
    def __init__(self, case, target):
        self.place = f"127.0.0.1:{free_port()}"
        config = case.dir / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(SHARE / "rules.yml")],
            "scrape_configs": [{"job_name": "proftrace", "static_configs": [{"targets": [target]}]}]}))
        self.log = case.dir / "prometheus.log"
        with open(self.log, "w") as log:
            self.popen = subprocess.Popen(
                [f"{BIN()}/prometheus", f"--config.file={config}", f"--storage.tsdb.path={case.dir / 'tsdb'}",
                 f"--web.listen-address={self.place}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        case.finally_(self.stop)
        process.wait_for(self.is_ready, 30, f"Prometheus, see {self.log}")

    def stop(self):
        self.popen.terminate()
        self.popen.wait(20)

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.place}{path}", timeout=20) as answer:
            return answer.read()

    def is_ready(self):
        assert self.popen.poll() is None, self.log.read_text()
        try:
            return self.get("/-/ready")
        except OSError:
            return False

    def query(self, expression):
        answer = json.loads(self.get("/api/v1/query?" + urllib.parse.urlencode({"query": expression})))
        assert answer["status"] == "success", (expression, answer)
        return answer["data"]["result"]


def panels():
    for panel in json.loads((SHARE / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$job_name", f"{own('prom')}.*")


@test("Prometheus rules: promtool checks and tests them")
def rules(case):
    for args in (("check", "rules", "rules.yml"), ("test", "rules", "rules_test.yml")):
        done = subprocess.run([f"{BIN()}/promtool", *args], cwd=SHARE, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@test("a real Prometheus scrapes the monitor: every expression of dashboard and rules has an answer")
def scraped(case):
    job = case.job("named.py", own("prom"), "train.py", fresh=True).wait_steps(5)
    monitor = Monitor(case, own("prom"))
    prometheus = Prometheus(case, monitor.place)
    monitor.wait_windows(job, 2)
    process.wait_for(lambda: prometheus.query("job:proftrace_phase:share30m"), 40, "a recorded rule")
    for title, expression in panels():
        assert prometheus.query(expression) or title in EMPTY, (title, expression)
    shares = [float(r["value"][1]) for r in prometheus.query("job:proftrace_phase:share30m")]
    assert abs(sum(shares) - 1) < 1e-6, shares
    rate, = (float(r["value"][1]) for r in prometheus.query("job_rank:proftrace_steps:rate5m"))
    assert rate > 0, rate
    groups = json.loads(prometheus.get("/api/v1/rules"))["data"]["groups"]
    wrong = [(r["name"], r["lastError"]) for g in groups for r in g["rules"] if r["health"] != "ok"]
    assert not wrong and sum(len(g["rules"]) for g in groups) == 16, (wrong, groups)
    assert monitor.end() == 0, monitor.tool.err
