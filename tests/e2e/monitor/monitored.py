# SPDX-License-Identifier: BSD-2-Clause
"""A monitor for one test's jobs, and its output."""
import http.client
import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess

from lib import process

NUMBERS = itertools.count()
# Debian's, which has prometheus-client; the tests' own Python may be another.
PARSE = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families as parse
json.dump([[f.name, f.type, [[s.name, s.labels, s.value] for s in f.samples]] for f in parse(sys.stdin.read())],
          sys.stdout)
"""


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def own(name):
    """The name of a command of this test run only. /proc/PID/comm has 15 bytes."""
    return f"p{os.getpid()}-{name}"[:15]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Monitor:
    OPTIONS = ("--young", "1s", "--scan", "1s", "--max-duty", "25%", "--window", "10",
               "--cpu", "100", "--max-pressure", "100%")

    def __init__(self, case, name, *options, budget=("--budget", "50%"), place=None, wrap=(), allow=None):
        self.place = place or f"127.0.0.1:{free_port()}"
        self.store = case.dir / f"store{next(NUMBERS)}"
        self.tool = case.tool("monitor", "--listen", self.place, "--store", self.store,
                              *(("--allow", f"command:{name}*") if allow is None else allow), *self.OPTIONS, *budget, *options, wrap=wrap)
        self.pid = self.tool.pid
        process.wait_for(self.answers, 20, f"an answer at {self.place}: {self.tool.err}")

    def ask(self, path, method="GET", headers=None):
        """Status, headers and text."""
        connection = (Unix(str(self.place)) if "/" in str(self.place) else
                      http.client.HTTPConnection(str(self.place), timeout=10))
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def html(self, path):
        """Requests a page as a browser does."""
        status, headers, text = self.ask(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert status == 200 and headers["Content-Type"].startswith("text/html"), (path, status, text)
        return text

    def post(self, path, token=None):
        """Status and text."""
        status, _, text = self.ask(path, "POST", {"Authorization": f"Bearer {token}"} if token else {})
        return status, text

    def answers(self):
        assert self.tool.popen.poll() is None, self.tool.err
        try:
            return self.ask("/health")[0] == 200
        except OSError:
            return False

    def text(self, path):
        """Returns the metrics. A new exporter answers 503 until its first scan has ended."""
        answer = []

        def is_ready():
            answer[:] = self.ask(path)
            return answer[0] != 503

        process.wait_for(is_ready, 20, f"an answer to {path}")
        assert answer[0] == 200, (path, answer)
        return answer[2]

    def families(self):
        """Returns name -> type and samples, as prometheus-client reads them."""
        done = subprocess.run(["/usr/bin/python3", "-c", PARSE], input=self.text("/metrics"), text=True,
                              capture_output=True)
        assert done.returncode == 0, done.stderr
        return {name: (kind, samples) for name, kind, samples in json.loads(done.stdout)}

    def value(self, name, **labels):
        """Returns the value of the only sample with these labels, or None."""
        found = [value for _, samples in self.families().values() for sample, own, value in samples
                 if sample == name and labels.items() <= own.items()]
        assert len(found) < 2, (name, labels, found)
        return found[0] if found else None

    def ranks(self):
        return json.loads(self.text("/jobs"))["ranks"]

    def rank(self, job):
        """Returns the rank of a job's process, or None if it is not watched yet."""
        found = [r for r in self.ranks() if r["pid"] == job.pid]
        return found[0] if found else None

    def wait_windows(self, job, cnt, timeout_s=150):
        def has():
            assert self.tool.popen.poll() is None, self.tool.err
            rank = self.rank(job)
            return rank and rank["windows"] >= cnt

        process.wait_for(has, timeout_s, f"{cnt} windows of {job.pid}: {self.tool.err}")
        return self.rank(job)

    def own(self):
        """Returns its processes: exporter, sessions, reports."""
        return process.descendants(self.pid)

    def end(self, sig=signal.SIGTERM):
        """Ends the monitor. All its processes must be gone soon after."""
        own = self.own()
        os.kill(self.pid, sig)
        status = self.tool.wait(40)
        process.wait_for(lambda: not any(is_there(pid) for pid in own), 20,
                         f"the end of {[pid for pid in own if is_there(pid)]}")
        return status


def is_there(pid):
    try:
        return process.state(pid) != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def command(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
