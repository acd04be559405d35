# SPDX-License-Identifier: BSD-2-Clause
"""Hostile text of a process must not reach a terminal or a spreadsheet."""
import csv
import json
import os
import pty
import re
import select
import subprocess
import termios
import time

from common import HERE, running
from lib.job import ROOT
from lib.runner import test
from lib.tool import PROFTRACE

# proftrace's own control sequences: colours, and back to the start of the progress line.
OURS = re.compile(rb"\x1b\[[0-9;]*m|\r\x1b\[K")
FORMULA = re.compile("[=+@\t\r\n-]")
COMMAND = "\x1b]0;argument\x07\x9b2J\u202e\r\nproftrace: argument"


def on_terminal(*command, cwd=None):
    """Status, and all that a terminal was sent."""
    master, slave = pty.openpty()
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST  # text arrives as it was written
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    popen = subprocess.Popen([*map(str, command)], stdin=slave, stdout=slave, stderr=slave, cwd=cwd,
                             env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    sent, end = b"", time.monotonic() + 120
    while time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            try:
                sent += os.read(master, 1 << 16)
            except OSError:  # all have closed it
                break
    os.close(master)
    return popen.wait(10), sent


def check(sent, crlf=False):
    """No control character but line ends, no C1, no character that reorders; no line forged."""
    rest = OURS.sub(b"", sent)
    if crlf:
        rest = rest.replace(b"\r\n", b"\n")
    text = rest.decode()  # the rest must be UTF-8
    bad = re.findall(r".{0,40}[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069].{0,40}", text)
    assert not bad, bad
    forged = [line for line in text.split("\n") if re.match("proftrace: (all is well|argument)", line)]
    assert not forged, forged


def hostile(case):
    program, library = case.dir / "na\x1b[2Jmes", case.dir / "lib\x1b]0;lib\x07\u202e\nproftrace: all is well.so"
    subprocess.run(["gcc", "-O1", f"-I{ROOT}", "-o", program, HERE / "names.c"], check=True)
    subprocess.run(["gcc", "-shared", "-x", "c", "/dev/null", "-o", library], check=True)
    return running(case, program, library, COMMAND)


@test("hostile names, arguments, threads, paths: a terminal gets nothing but text")
def terminal(case):
    job = hostile(case)
    status, sent = on_terminal(PROFTRACE, "-p", job.pid, "--record", "2:20", "-v", "-o", "r.ptrec", "--no-trace",
                               cwd=case.dir)
    check(sent)
    assert status == 0 and b"owned" in sent, sent
    for form in ("text", "json"):
        status, sent = on_terminal(PROFTRACE, "doctor", "-p", job.pid, "--format", form)
        assert b"argument" in sent and b"0;lib" in sent, sent
        check(sent)
    recording = case.dir / "r.ptrec"
    for form in ("table", "json", "csv"):
        status, sent = on_terminal(PROFTRACE, "report", "--format", form, recording)
        assert status == 0 and b"owned" in sent, sent
        check(sent, crlf=form == "csv")
    for form in ("csv", "jsonl", "folded", "speedscope", "chrome", "cuda-profiler"):
        status, sent = on_terminal(PROFTRACE, "export", "-f", form, "--gzip-level", "0", "-o", "-", recording)
        assert status == 0, sent
        check(sent)
    status, sent = on_terminal(PROFTRACE, "export", "-f", "csv", "--gzip-level", "6", "-o", "-", recording)
    assert status == 1 and b"terminal" in sent, sent
    for form in ("perfetto", "pprof", "paddle-proto"):
        status, sent = on_terminal(PROFTRACE, "export", "-f", form, "--gzip-level", "0", "-o", "-", recording)
        assert status == 2 and b"binary" in sent, sent
    status, sent = on_terminal(PROFTRACE, "diff", recording, recording)
    check(sent)
    # Errors that quote their arguments.
    for words in (("report", COMMAND), ("ctl", COMMAND, "stop"), ("-p", COMMAND), (COMMAND,), ("--" + COMMAND,),
                  ("export", "-f", COMMAND, recording), ("report", "-t", COMMAND, recording)):
        status, sent = on_terminal(PROFTRACE, *words)
        assert status in (1, 2), sent
        check(sent)


@test("processes with hostile names in `proftrace cpu` on a terminal")
def processes(case):
    hostile(case)
    for form in ("table", "json", "csv"):
        status, sent = on_terminal(PROFTRACE, "cpu", "--duration", "1s", "--top", "0", "--format", form)
        assert status == 0, sent
        check(sent, crlf=form == "csv")


@test("cells that a spreadsheet would run begin with an apostrophe; --raw-csv leaves them; numbers stay")
def spreadsheet(case):
    job = hostile(case)
    case.tool("-p", job.pid, "--record", "2:20", "-o", case.dir / "r.ptrec", "--no-trace", "--no-report").done(60)
    recording = case.dir / "r.ptrec"
    for words in (("report", "-f", "csv", "-t", "userdefined"), ("report", "-f", "csv", "-t", "counters"),
                  ("report", "-f", "csv"), ("export", "-f", "csv", "-o", "-")):
        texts = [subprocess.run([PROFTRACE, *words, *raw, recording], capture_output=True, text=True,
                                check=True).stdout for raw in ((), ("--raw-csv",))]
        cells, raw = ([c for row in csv.reader(text.splitlines(keepends=True)) for c in row] for text in texts)
        assert len(cells) == len(raw)
        for cell in cells:
            assert not FORMULA.match(cell) or cell == "-" or float(cell) < 0, cell
        changed = {(a, b) for a, b in zip(cells, raw) if a != b}
        assert all(a == "'" + b or b.startswith("# ") or b == "a;@SUM(1)" for a, b in changed), changed
        if "counters" not in words:
            assert ("'=cmd|' /C calc'!A0", "=cmd|' /C calc'!A0") in changed, changed
            assert ("a;'@SUM(1)", "a;@SUM(1)") in changed, changed
    # Nothing is lost on the way to programs that read JSON.
    tables = json.loads(subprocess.run([PROFTRACE, "report", "-f", "json", recording], capture_output=True,
                                       check=True).stdout)
    assert any("\x1b]0;owned\x07" in row["name"] for row in tables["userdefined"]["rows"]), tables["userdefined"]
