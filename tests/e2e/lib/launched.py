# SPDX-License-Identifier: BSD-2-Clause
"""A job of several ranks, started by its workload. Each rank writes a line per step to a log."""
import json
import os
import signal
import subprocess

from lib import process
from lib.job import ENV, PYTHON, WORKLOADS
from lib.tool import PROFTRACE


def straggler(tool):
    """Returns the rank that the others wait for, from all recordings together."""
    tables = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", *tool.recordings()], check=True,
                                       capture_output=True, text=True).stdout)
    return next(t["rows"][0]["straggler"] for t in tables.values() if isinstance(t, dict) and t.get("rows") and
                "straggler" in t["rows"][0])


class Launched:
    def __init__(self, case, script, ranks, *options, python=PYTHON, **settings):
        self.logs = [case.dir / f"log.{rank}" for rank in range(ranks)]
        self.out = case.dir / "out"
        with open(self.out, "w") as out:
            self.popen = subprocess.Popen([python, WORKLOADS / script, "--log", case.dir / "log", *options],
                                          env=dict(ENV, **settings), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          start_new_session=True)
        self.pid = self.popen.pid
        case.finally_(self.kill)
        self.wait_steps(10)

    def kill(self):
        os.killpg(self.pid, signal.SIGKILL)
        self.popen.wait()

    def steps(self):
        """Returns the steps of the rank that has done fewest."""
        return min(len(log.read_text().splitlines()) if log.exists() else 0 for log in self.logs)

    def wait_steps(self, cnt):
        before = self.steps()
        process.wait_for(lambda: self.steps() >= before + cnt or self.popen.poll() is not None, 120,
                         "steps of all ranks")
        assert self.popen.poll() is None, f"the job ended: {self.out.read_text()}"
