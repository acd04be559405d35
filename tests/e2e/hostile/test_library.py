# SPDX-License-Identifier: BSD-2-Clause
"""The library in a process, and the memory that it shares with proftrace: nobody else's."""
import os
import pathlib
import subprocess

from common import HERE, NOBODY
from lib import process
from lib.job import ROOT
from lib.runner import test
from lib.tool import PROFTRACE

BUILD = pathlib.Path(PROFTRACE).resolve().parent
TRAIN = BUILD / "simgpu/client/train"


def job(case, **settings):
    """A process that uses the simulated device until it is ended."""
    log = case.dir / f"job{len(list(case.dir.glob('job*')))}"
    with open(log, "w") as out:
        popen = subprocess.Popen([TRAIN, "0", "3000", "1", "2", "0"], stdout=out, stdin=subprocess.DEVNULL,
                                 env={**os.environ, **settings})
    case.finally_(popen.wait)
    case.finally_(popen.kill)
    process.wait_for(lambda: "ready" in log.read_text() or popen.poll() is not None, 30, "a job")
    assert popen.poll() is None, log.read_text()
    return popen


@test("a file of another user, or that others may write, at the name of proftrace's: the library does not take it")
def squatted(case):
    maker = case.dir / "shmfile"
    subprocess.run(["gcc", "-O1", f"-I{ROOT}", "-o", maker, HERE / "shmfile.c"], check=True)

    def taken(name, owner, mode, link=None):
        file = case.dir / name
        subprocess.run([maker, "make", file], check=True)
        os.chown(file, owner, owner)
        os.chmod(file, mode)
        if link:
            os.symlink(file, case.dir / link)
        popen = job(case, PROFTRACE_SHIM=str(case.dir / (link or name)),
                    CUDA_INJECTION64_PATH=str(BUILD / "libproftrace_cupti.so"))
        pid = int(subprocess.run([maker, "pid", file], check=True, capture_output=True, text=True).stdout)
        assert pid in (0, popen.pid), pid
        popen.kill()
        return pid
    assert taken("ours", 0, 0o600)
    assert not taken("theirs", NOBODY, 0o600)
    assert not taken("opened", 0, 0o666)
    assert not taken("linked", 0, 0o600, "link")
