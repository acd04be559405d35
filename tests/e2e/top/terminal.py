# SPDX-License-Identifier: BSD-2-Clause
"""A terminal (tmux) with proftrace top in it, and monitors that are not real."""
import http.server
import itertools
import json
import shlex
import socket
import subprocess
import threading
import time

from lib import process
from lib.tool import PROFTRACE

NUMBERS = itertools.count()


def rank(job="night", number="0", **other):
    """Returns a rank as the monitor's GET /jobs has it."""
    return {"job_name": job, "uid": 1000, "rank": number, "pid": 4000 + int(number), "state": "waiting",
            "framework": "PyTorch", "framework_version": "2.15.0+cpu", "step_rule": "optimizer", "container_id": "",
            "pod_uid": "", "steps": 1234, "sampled_steps": 100, "windows": 5, "step_seconds": 0.0123, "duty": 0.01,
            "window_overhead": 0.02,
            "phases": {"forward": 0.5, "backward": 0.5, "optimization": 0.25, "dataloader": 0.125, "others": 0.125},
            "operators": {"aten::addmm": 0.3, "aten::relu": 0.1}, "findings": {"data_loader": 0.25, "page_faults": 0},
            "regression": "none", "latest_recording": f"{job}_{number}.ptrec"} | other


class Fake:
    """Answers /jobs with `ranks`, and POST with `posted`: status, text."""

    def __init__(self, case, *ranks):
        self.ranks, self.requests, self.posted = list(ranks), [], (405, "GET only.\n")
        self.body = None  # instead of the ranks
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, status, text):
                fake.requests.append((self.command, self.path, self.headers.get("Authorization")))
                data = text.encode() if isinstance(text, str) else text
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                self.answer(200, json.dumps({"ranks": fake.ranks}) if fake.body is None else fake.body)

            def do_POST(self):
                self.answer(*fake.posted)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.at = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        case.finally_(self.stop)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Silent:
    """Takes connections and never answers."""

    def __init__(self, case):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.at = f"127.0.0.1:{self.socket.getsockname()[1]}"
        case.finally_(self.socket.close)


class Raw:
    """Answers each connection with these pieces."""

    def __init__(self, case, pieces, pause_s=0):
        self.pieces, self.pause_s = pieces, pause_s
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.at = f"127.0.0.1:{self.socket.getsockname()[1]}"
        case.finally_(self.socket.close)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                try:
                    for piece in self.pieces:
                        connection.sendall(piece)
                        time.sleep(self.pause_s)
                except OSError:
                    pass


class Terminal:
    """One that has proftrace top in it, or another command."""

    def __init__(self, case, *args, cols=80, rows=24, term="screen-256color", locale="C.UTF-8", command=None, **env):
        self.name = f"top{next(NUMBERS)}"
        self.socket = case.dir / f"{self.name}.tmux"
        self.status = case.dir / f"{self.name}.status"
        words = [f"{name}={value}" for name, value in {"TERM": term, "LC_ALL": locale, **env}.items()]
        words = ["env", *words, *(command or [PROFTRACE, "top", *args])]
        line = f"{shlex.join(map(str, words))}; echo $? >{self.status}; sleep 60"
        self.tmux("-u", "-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", cols, "-y", rows, "sh", "-c", line)
        case.finally_(self.stop)

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *map(str, args)], check=True, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL).stdout

    def stop(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)

    def keys(self, *keys):
        self.tmux("send-keys", "-t", "t", *keys)

    def resize(self, cols, rows):
        self.tmux("resize-window", "-t", "t", "-x", cols, "-y", rows)

    def lines(self, escapes=False):
        return self.tmux("capture-pane", "-p", "-t", "t", *(["-e"] if escapes else [])).split("\n")

    def wait(self, *words, timeout_s=10, without=()):
        """Waits until the screen has all of the words. Returns its lines and the waiting time in seconds."""
        start, lines = time.monotonic(), []

        def has():
            lines[:] = self.lines()
            text = "\n".join(lines)
            return all(word in text for word in words) and not any(word in text for word in without)

        try:
            process.wait_for(has, timeout_s, "it")
        except AssertionError:
            raise AssertionError(f"no {words}, or one of {without}:\n" + "\n".join(lines)) from None
        return lines, time.monotonic() - start

    def pane(self):
        """The shell that runs the command."""
        return int(self.tmux("list-panes", "-t", "t", "-F", "#{pane_pid}"))

    def row(self, word):
        return next(line for line in self.lines() if word in line)

    def wait_end(self, timeout_s=10):
        process.wait_for(lambda: self.status.exists() and self.status.read_text(), timeout_s,
                         f"its end: {self.lines()}")
        return int(self.status.read_text())
