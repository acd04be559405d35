# SPDX-License-Identifier: BSD-2-Clause
"""proftrace ctl, asked about the session of a job."""
import subprocess

from lib import process
from lib.tool import PROFTRACE


def ctl(job, verb, user=()):
    """Returns the exit status and the output."""
    done = subprocess.run([*user, PROFTRACE, "ctl", str(job.pid), verb], text=True,
                          capture_output=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


def obeyed(job, verb):
    status, said = ctl(job, verb)
    assert status == 0, said
    return said


def wait_state(job, *words):
    """Waits until the session is in that state. Returns its answer."""
    said = []

    def reached():
        said[:] = [ctl(job, "status")[1]]
        return all(word in said[0] for word in words)

    process.wait_for(reached, 60, f"{words}, last: {said}")
    return said[0]


def recording(tool, index):
    first = min(tool.recordings(), key=lambda path: len(path.name))
    return first.with_name(first.name.replace(".ptrec", f".{index}.ptrec")) if index else first
