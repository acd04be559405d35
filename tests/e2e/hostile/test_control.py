# SPDX-License-Identifier: BSD-2-Clause
"""Neighbours at the control socket: the session does not notice them."""
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

from common import AS_NOBODY, sleeping
from lib import process
from lib.runner import test
from lib.tool import PROFTRACE

SOCKETS = pathlib.Path("/run/proftrace")


def session(case, *options):
    job = sleeping(case)
    tool = case.tool("-p", job.pid, "--no-trace", "--no-report", *options)
    process.wait_for(lambda: (SOCKETS / str(job.pid)).exists() and tool.recordings(), 60, "a session")
    return job, tool


class Flood:
    """Makes many connections, sends nothing, and closes the oldest ones."""

    def __init__(self, connect, threads=4):
        self.end, self.connected, self.connect = False, 0, connect
        self.threads = [threading.Thread(target=self.go) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def go(self):
        held = []
        while not self.end:
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            client.settimeout(1)
            try:
                self.connect(client)
                self.connected += 1
                held.append(client)
            except OSError:
                time.sleep(0.005)
            if len(held) > 50:
                held.pop(0).close()
        for client in held:
            client.close()

    def stop(self):
        self.end = True
        for thread in self.threads:
            thread.join()


@test("clients that connect and say nothing: it answers, and Ctrl-C ends it")
def flood(case):
    job, tool = session(case, "--duration", "60s")
    silent = Flood(lambda client: client.connect(str(SOCKETS / str(job.pid))))
    case.finally_(silent.stop)
    process.wait_for(lambda: silent.connected > 200, 30, "a flood")
    said = subprocess.run([PROFTRACE, "ctl", str(job.pid), "status"], capture_output=True, text=True,
                          timeout=30)
    assert "recording" in said.stdout + said.stderr, said
    tool.signal(signal.SIGINT)
    tool.done(20)
    silent.stop()
    assert tool.recordings()


@test("another user cannot reach the socket, nor take its name before")
def another_user(case):
    job, tool = session(case, "--duration", "60s")
    code = f"""
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("{SOCKETS}/{job.pid}")
"""
    done = subprocess.run([*AS_NOBODY, "python3", "-c", code], capture_output=True, text=True)
    assert "PermissionError" in done.stderr, done.stderr
    squat = code.replace(f"connect(\"{SOCKETS}/{job.pid}\")", f"bind(\"{SOCKETS}/1\")")
    done = subprocess.run([*AS_NOBODY, "python3", "-c", squat], capture_output=True, text=True)
    assert "PermissionError" in done.stderr, done.stderr
    # A name in the abstract name space, which anybody can take, is nobody's.
    abstract = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    case.finally_(abstract.close)
    abstract.bind(f"\0proftrace/{job.pid}")
    said = subprocess.run([PROFTRACE, "ctl", str(job.pid), "stop"], capture_output=True, text=True,
                          timeout=30)
    assert said.returncode == 0, said
    tool.done(20)
    assert not (SOCKETS / str(job.pid)).exists()


@test("a session that was killed leaves a name that the next one takes")
def killed(case):
    job, tool = session(case, "--duration", "60s")
    os.kill(tool.pid, signal.SIGKILL)
    tool.popen.wait()
    again = case.tool("-p", job.pid, "--no-trace", "--no-report", "--duration", "1s")
    again.done(60)
    assert not again.said("capture.control-not-reachable"), again.err
