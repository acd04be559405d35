# SPDX-License-Identifier: BSD-2-Clause
"""The server of server.cpp, built and run."""
import os
import pathlib
import shutil
import subprocess
import threading

from lib import process
from lib.job import ROOT, Harmed

HERE = pathlib.Path(__file__).resolve().parent
LOCK = threading.Lock()
BUILT = {}


def build(directory, *flags):
    """Returns the server's path. Each set of flags is built once, in the directory where the tests started."""
    with LOCK:
        if flags not in BUILT:
            path = pathlib.Path.cwd() / f"server{len(BUILT)}"
            compiler = shutil.which("g++") or "clang++-19"
            subprocess.run([compiler, "-std=c++17", "-O2", "-g", "-Wall", "-Wextra", "-Werror",
                            "-pthread", f"-I{ROOT}", *flags, "-o", path, HERE / "server.cpp"],
                           check=True)
            BUILT[flags] = path
    copy = pathlib.Path(directory) / "server"
    shutil.copy(BUILT[flags], copy)
    return copy


class Server:
    def __init__(self, case, threads=1, flags=()):
        self.log = case.dir / "server.log"
        self.binary = build(case.dir, *flags)
        self.popen = subprocess.Popen([self.binary, self.log, str(threads)], cwd=case.dir,
                                      stdin=subprocess.DEVNULL, start_new_session=True)
        self.pid = self.popen.pid
        case.finally_(self.stop)
        self.lives()

    def done(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return len(lines), sum(line.startswith("failed") for line in lines)

    def lives(self, requests=20):
        """Checks that the server goes on, also after bad requests."""
        served, failed = self.done()
        process.wait_for(lambda: self.popen.poll() is not None or
                         (self.done()[0] >= served + requests and self.done()[1] > failed),
                         60, "requests")
        if self.popen.poll() is not None:
            raise Harmed(f"the server ended with {self.popen.poll()}")
        return self

    def stop(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()
        os.unlink(self.binary)
