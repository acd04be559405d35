# SPDX-License-Identifier: BSD-2-Clause
"""The clock of the day is set an hour on while proftrace records: spans and windows do not move."""
import json
import re
import subprocess
import time

from common import Faulty
from lib.runner import test
from lib.tool import PROFTRACE
from test_killed import Counting


@test("CLOCK_REALTIME stepped at each look: the window is as long as it was told, steps are where they were")
def stepped(case):
    job = Counting(case, "clock")
    path = case.dir / "r.ptrec"
    faulty = Faulty(case, "-p", job.pid, "--duration", "300ms", "--no-report", "-o", path, "--no-trace")
    for n in faulty.places("clock", 3):
        begin = time.monotonic()
        done, _, hit = faulty.run(f"clock:{n}")
        assert done.returncode == 0 and hit, (n, done.stderr)
        assert time.monotonic() - begin < 30, n
        text = subprocess.run([PROFTRACE, "report", "-f", "json", path], capture_output=True, check=True).stdout
        summary = json.loads(text)["summary"]["rows"][0]
        assert summary["steps"] > 5, summary
        length, unit = re.search(r"([0-9.]+) (m?s)$", summary["window"]).groups()
        assert 0.2 < float(length) * {"ms": 1e-3, "s": 1}[unit] < 5, summary
