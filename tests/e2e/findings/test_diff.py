# SPDX-License-Identifier: BSD-2-Clause
"""Windows of real jobs, compared: unchanged among busy processes, and one that became slower."""
import os
import subprocess

from lib.runner import test
from lib.tool import PROFTRACE


def windows(case, illness, busy=0):
    """Three windows of 20 steps of one job."""
    job = case.job("ill.py", "--illness", illness).wait_steps(5)
    for _ in range(busy):
        case.finally_(subprocess.Popen(["sh", "-c", "while :; do :; done"]).kill)
    tool = case.tool("-p", job.pid, "--schedule", "skip_first=2,closed=3,record=20,repeat=3",
                     "--no-trace", "--no-report").done()
    files = [str(path) for path in tool.recordings()]
    assert len(files) == 3, files
    return files


def diff(before, after):
    return subprocess.run([PROFTRACE, "diff", before, after, "--fail-if", "step > 5 %"],
                          capture_output=True, text=True)


@test("diff: an unchanged job among busy processes is not slower, and the machine was busy")
def unchanged(case):
    files = windows(case, "none", busy=os.cpu_count())
    for before, after in ((files[0], files[1]), (files[1], files[0]), (files[0], files[2])):
        done = diff(before, after)
        assert done.returncode == 0, (done.stdout, done.stderr)
        assert f"The machine was busy in {after}" in " ".join(done.stdout.split()), done.stdout


@test("diff: three windows of each side tell a step that sleeps")
def slower(case):
    before, after = windows(case, "none"), windows(case, "outside")
    done = diff(",".join(before), ",".join(after))
    assert done.returncode == 3 and "slower" in done.stdout, (done.stdout, done.stderr)
    assert diff(",".join(after), ",".join(before)).returncode == 0
