# SPDX-License-Identifier: BSD-2-Clause
import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "monitor"))

from lib import process  # noqa: E402
from lib.process import Snapshot  # noqa: E402
from lib.runner import Skip, test  # noqa: E402
from lib.tool import PROFTRACE  # noqa: E402
from monitored import Monitor, command, is_there, own  # noqa: E402
from terminal import Fake, Raw, Silent, Terminal, rank  # noqa: E402

HEADS = "  JOB            RANKS FRAMEWORK       STEP RECENT   PHASES         CPU GPU FIND"


@test("80 x 24: a row per job, of all its ranks; a window more is a bar more; a job's page and back")
def list_and_page(case):
    fake = Fake(case, rank("alone", windows=0, step_seconds=None, phases={}, operators={}, findings={}),
                rank(cpus=1.5, step_seconds=0.005), rank(number="1", cpus=2.0, step_seconds=0.010))
    top = Terminal(case, "--address", fake.at, "-i", "100ms")
    lines, _ = top.wait("night")
    assert lines[3] == HEADS, lines
    assert lines[4] == "> alone              1 PyTorch            - -        -                -   -    -", lines
    assert lines[5] == "  night              2 PyTorch      10.0 ms █        FFFFBBBBOOL.   3.5   -    1", lines
    fake.ranks[1:] = [rank(windows=6, step_seconds=0.020), rank(number="1", windows=5)]
    lines, _ = top.wait("20.0 ms")
    assert lines[5].split()[5] == "▅█", lines
    top.keys("j", "Enter")
    lines, _ = top.wait("aten::addmm")
    # 0.3 s in 100 steps of each rank, of 1.5 s.
    assert "     3.0 ms    20.0 %  aten::addmm" in lines, lines
    assert " 25.0 %  data_loader           Steps wait for the data loader. (2 ranks)" in lines, lines
    assert any(line.startswith("     1      4001 waiting") for line in lines), lines
    top.keys("Escape")
    top.wait(HEADS)
    top.keys("q")
    assert top.wait_end() == 0


@test("a monitor that never answers: keys work, the screen says why, q ends at once")
def silent(case):
    top = Terminal(case, "--address", Silent(case).at)
    top.wait("waiting for the monitor's answer")
    top.keys("r")
    _, took_s = top.wait("There is no rank to record.")
    assert took_s < 2 * process.PATIENCE, "a key waited for the monitor"
    top.wait("q quit")
    start = time.monotonic()
    top.keys("q")
    assert top.wait_end() == 0
    assert time.monotonic() - start < 2 * process.PATIENCE, "q waited for the monitor"


@test("a monitor whose answer never ends, by a byte at a time or 16 MB: top says so and goes on")
def endless(case):
    head = b"HTTP/1.0 200 OK\r\n\r\n"
    drip = Terminal(case, "--address", Raw(case, [head, *[b" "] * 100], pause_s=0.2).at, "-i", "100ms")
    flood = Terminal(case, "--address", Raw(case, [head, *[b" " * (1 << 20)] * 100]).at, "-i", "100ms")
    flood.wait("answers with more than 16 MB: is it proftrace monitor?")
    drip.wait("did not answer within 5 s", timeout_s=20)
    for top in (drip, flood):
        top.keys("q")
        assert top.wait_end() == 0


@test("a terminal that takes no output (Ctrl-S): the monitor is asked all the same")
def stopped(case):
    fake = Fake(case, rank("a"), rank("b"))
    top = Terminal(case, "--address", fake.at, "-i", "100ms")
    top.wait("> a")
    top.keys("C-s", "j")
    time.sleep(1)
    assert top.row("  b") and top.row("> a"), "the terminal takes output"
    seen = len(fake.requests)
    process.wait_for(lambda: len(fake.requests) > seen + 5, 10, "requests")
    top.keys("C-q")
    top.wait("> b")


@test("a monitor that stops: its last figures stay, keys move among them, their age is shown")
def stops(case):
    fake = Fake(case, rank("a"), rank("b"))
    top = Terminal(case, "--address", fake.at, "-i", "100ms")
    top.wait("> a", "  b")
    fake.stop()
    top.wait("These figures are", "no monitor answers")
    top.keys("Down")
    top.wait("> b")
    top.keys("s")
    top.wait("by step time")


@test("no character of a job's names moves the cursor, and no answer ends top")
def hostile(case):
    fake = Fake(case, rank("x\x1b[2J\x1b]0;t\x07\u202e\x9b", operators={"\x1b[31mop\r\n": 1},
                      findings={"\x1b[5mf": .5}))
    top = Terminal(case, "--address", fake.at, "-i", "100ms", NO_COLOR="1")
    top.wait("> x?[2J?]0;t???", "q quit")
    top.keys("Enter")
    lines, _ = top.wait("?[31mop??", "?[5mf")
    assert not re.search("\x1b\\[(31|5)m", "\n".join(top.lines(escapes=True))), lines
    for body in (b"\xff\x1b[2J", b"[]", b"", b'{"ranks": 3}', b'{"ranks": [[], 1, {"job_name": 5}]}'):
        fake.body = body
        seen = len(fake.requests)
        process.wait_for(lambda: len(fake.requests) > seen + 1, 10, "two more requests")
    assert not top.status.exists(), top.lines()
    fake.body = None
    fake.ranks = [rank("good")]
    top.wait("> good", "The monitor has no x?[2J?")


@test("colours by the terminal, none with NO_COLOR or on a vt100; ASCII without UTF-8")
def looks(case):
    fake = Fake(case, rank("Gr\u00f6\u00dfe"))

    def screen(**settings):
        top = Terminal(case, "--address", fake.at, **settings)
        top.wait("> Gr", "FFFF")
        return "\n".join(top.lines(escapes=True))

    colour = re.compile("\x1b\\[[0-9;]*3[1-7]m")
    assert colour.search(screen())
    assert not colour.search(screen(NO_COLOR="1"))
    assert not colour.search(screen(term="vt100"))
    plain = screen(locale="C", NO_COLOR="1")
    assert "Gr??e" in plain and "#" in plain and plain.isascii(), plain
    for term in ("dumb", "no-such-terminal"):
        top = Terminal(case, "--address", fake.at, term=term)
        assert top.wait_end() == 1
        top.wait(f"the terminal's type '{term}' is not known here", "use proftrace top --once")


@test("a terminal that changes its size: more columns, too few, 80 x 24 again")
def resize(case):
    fake = Fake(case, *(rank(f"job{i:02}" + "x" * 30) for i in range(40)))
    top = Terminal(case, "--address", fake.at)
    top.wait("> job00xxxxxxxx~", HEADS)
    top.resize(140, 40)
    top.wait("> job00" + "x" * 30 + " ", "job34")
    top.resize(50, 20)
    top.wait("50 x 20 is too small", "proftrace top needs 80 x 10")
    top.resize(80, 24)
    top.wait("> job00xxxxxxxx~", HEADS)
    top.keys(*["j"] * 30)
    lines, _ = top.wait("> job30")
    assert lines[22].startswith("> job30") and lines[4].startswith("  job12"), lines


@test("r asks for a window with the token, and says the answer; a monitor that takes none says so")
def record(case):
    token = case.dir / "token"
    token.write_text("se.cret\n")
    fake = Fake(case, rank(state="ended"), rank(number="1"))
    top = Terminal(case, "--address", fake.at, "--token-file", token)
    top.wait("night")
    top.keys("r")
    top.wait("The monitor records no window on request: 405 GET only.")
    fake.posted = (202, "a window of 4001 opens\x1b[2J at its next step\n")
    top.keys("r")
    top.wait("The monitor answers: a window of 4001 opens?[2J at its next step")
    posts = [request for request in fake.requests if request[0] == "POST"]
    assert posts == [("POST", "/jobs/4001/record", "Bearer se.cret")] * 2, posts
    assert all(auth is None for method, _, auth in fake.requests if method == "GET"), fake.requests


@test("the page of a job: its threads, those of all ranks in order; names that are hostile; a monitor that has none")
def threads(case):
    one = rank(threads=[{"name": "python (4000)", "run": 0.985, "runnable": 0.002},
                        {"name": "x\x1b[2J (4001)", "run": 0.01, "runnable": 0}],
               other_threads={"threads": 0, "run": 0, "runnable": 0, "more": False})
    two = rank(number="1", threads=[{"name": f"t{i}", "run": 0.5, "runnable": 0.25} for i in range(16)],
               other_threads={"threads": 30, "run": 0.1, "runnable": 0.2, "more": True})
    fake = Fake(case, one, two, rank("old"))
    top = Terminal(case, "--address", fake.at, "-i", "100ms", rows=50)
    top.wait("> night")
    top.keys("Enter")
    lines, _ = top.wait("RUNS WAITS FOR A PROCESSOR")
    head = next(i for i, line in enumerate(lines) if "RUNS WAITS" in line)
    assert lines[head + 1] == "  98.5 %                 0.2 %      0 python (4000)", lines
    assert lines[head + 2] == "  50.0 %                25.0 %      1 t0", lines
    # One of rank 1's, and that of rank 0 which ran least.
    assert lines[head + 17] == "  61.0 %                45.0 %        32 or more others", lines
    top.keys("Escape", "j", "Enter")
    top.wait("old: uid", "- (no window with scheduling was read yet)")
    fake.ranks[2] = rank("old", threads=[{"name": "x\x1b[2J\u202e", "run": 0.5, "runnable": 0}])
    top.wait("x?[2J?", without=("no window with scheduling",))


@test("signals end it and leave the terminal as it was")
def signals(case):
    fake = Fake(case, rank())
    for sig in (signal.SIGTERM, signal.SIGINT):
        top = Terminal(case, "--address", fake.at, "-i", f"{100 + sig}ms")
        top.wait("night")
        os.kill(next(pid for pid in process.descendants(top.pane())
                     if pathlib.Path(f"/proc/{pid}/comm").read_text() == "proftrace\n"), sig)
        assert top.wait_end() == 0
        assert top.tmux("display-message", "-p", "-t", "t", "#{alternate_on}#{cursor_flag}").strip() == "01"


@test("without a terminal: --once prints a table, JSON or CSV; errors name what to do")
def once(case):
    fake = Fake(case, rank("=1+1", cpus=1.5), rank(number="1"), rank())
    table = case.tool("top", "--once", "--address", fake.at).done().out.split("\n")
    assert table[0] == HEADS and table[2].split()[:2] == ["night", "2"], table
    jobs = json.loads(case.tool("top", "--once", "-f", "json", "--address", fake.at).done().out)["jobs"]
    assert [(job["job_name"], len(job["ranks"]), job["cpus"], job["gpus"]) for job in jobs] == [
        ("=1+1", 1, 1.5, None), ("night", 2, None, None)], jobs
    assert abs(jobs[1]["phase_shares"]["forward"] - 1 / 3) < 1e-9, jobs
    rows = list(csv.DictReader(io.StringIO(case.tool("top", "--once", "-f", "csv", "--address", fake.at).done().out)))
    assert [(row["job_name"], row["ranks"], row["step_seconds"], row["gpus"]) for row in rows] == [
        ("'=1+1", "1", "0.0123", ""), ("night", "2", "0.0123", "")], rows
    case.tool("top", "--address", fake.at).fails("cli.top-needs-terminal")
    case.tool("top", "--once", "--socket", case.dir / "none").fails("top.monitor-missing", case.dir / "none", "No such file")
    fake.body = "<html>"
    case.tool("top", "--once", "--address", fake.at).fails("top.monitor-answer-invalid", "is no list of jobs")
    case.tool("top", "--address", "192.168.0.1:80").fails("top.monitor-place-invalid", "192.168.0.1:80")
    case.tool("top", "--once", "-i", "99ms").fails("cli.top-interval-small")
    for text in ("", "two words\n", "caf\u00e9\n", "x" * 5000):
        (case.dir / "token").write_text(text)
        case.tool("top", "--once", "--token-file", case.dir / "token").fails("cli.token-invalid", case.dir / "token")
    case.tool("top", "4242").fails("cli.top-argument-unexpected", "4242")
    case.tool("top", "--device-times").fails("cli.top-device-times-need-pid")


def cpus_of(pid, seconds):
    """Processors that a process used, by /proc."""
    def read():
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), time.monotonic()

    before, start = read()
    time.sleep(seconds)
    after, end = read()
    return (after - before) / (end - start)


@test("a real monitor at its unix socket: a job's row and page, its CPU as /proc has it", alone=True)
def real(case):
    if os.getuid() != 0:
        raise Skip("needs root")
    job = case.job("named.py", own("top"), "train.py", fresh=True).wait_steps(5)
    monitor = Monitor(case, own("top"), place=case.dir / "monitor.sock")
    top = Terminal(case, "--socket", monitor.place, "-i", "500ms", cols=100)
    top.wait(own("top"), timeout_s=60)
    monitor.wait_windows(job, 1)
    lines, _ = top.wait(" ms ", "FF", timeout_s=20)
    cpus = cpus_of(job.pid, 6)
    shown = float(top.row(own("top")).split()[-3])
    assert abs(shown - cpus) < 0.3 * cpus + 0.2, (shown, cpus)
    top.keys("Enter")
    top.wait("aten::")
    top.keys("NPage", "NPage", "NPage")
    top.wait(f" {job.pid} ", "Latest recordings", ".ptrec")
    top.resize(100, 60)
    top.wait(f"{own('top')} ({job.pid})")
    thread = top.row(f"{own('top')} ({job.pid})")
    used = cpus_of(f"{job.pid}/task/{job.pid}", 6)
    shown = float(thread.split()[0]) / 100
    assert abs(shown - used) < 0.3 * used + 0.1, (thread, used)


@test("-p: a monitor of its own, of that process alone; it ends with top, even if that is killed, and says what fails", alone=True)
def alone(case):
    if os.getuid() != 0:
        raise Skip("needs root")
    job, other = (case.job("mlp_train.py", fresh=True).wait_steps(5) for _ in range(2))
    before = Snapshot(job.pid), Snapshot(other.pid)
    top = Terminal(case, "-p", job.pid, "-i", "500ms")
    top.wait("Attaching: the first window takes some seconds.")
    top.wait(" ms ", "█", timeout_s=60)
    assert "1 job, 1 rank" in top.lines()[0], top.lines()
    monitor = next(pid for pid in process.descendants(top.pane())
                   if process.children(pid) and os.readlink(f"/proc/{pid}/fd/2").startswith("/memfd:log"))
    assert not [pid for pid in process.descendants(monitor) if str(other.pid) in command(pid)]
    directory = pathlib.Path(re.search(r"top  (/tmp/proftrace-top\S+)/socket", top.lines()[0]).group(1))
    assert directory.stat().st_mode & 0o777 == 0o700, directory
    own_processes = [monitor, *process.descendants(monitor)]
    os.kill(monitor, signal.SIGHUP)
    time.sleep(0.5)
    assert is_there(monitor), "SIGHUP ended it"

    def is_asked():  # a window that opened by itself may still be open
        top.keys("r")
        time.sleep(1)
        return any("The monitor answers: a window opens at the next step" in line for line in top.lines())

    process.wait_for(is_asked, 40, "a window on request")
    top.keys("q")
    assert top.wait_end(40) == 0
    assert not directory.exists(), list(directory.iterdir())
    assert not any(is_there(pid) for pid in own_processes), own_processes
    job.wait_steps(5)
    before[0].check()
    case.tool("record", "-p", job.pid, "--paused", "--no-report")
    top = Terminal(case, "-p", job.pid, "-i", "500ms")
    top.wait("session, proftrace with process id", timeout_s=30)
    directory = pathlib.Path(re.search(r"top  (/tmp/proftrace-top\S+)/socket", top.lines()[0]).group(1))
    own_processes = [pid for pid in process.descendants(top.pane()) if command(pid)[0] == PROFTRACE]
    os.kill(next(pid for pid in own_processes if command(pid)[1] == "top"), signal.SIGKILL)
    process.wait_for(lambda: not any(is_there(pid) for pid in own_processes) and not directory.exists(), 20,
                     f"the end of {own_processes}")
    job.wait_steps(5)
    before[1].check()


@test("-p of a process that cannot be: errors")
def alone_errors(case):
    case.tool("top", "-p", "x").fails("cli.top-pid-invalid", "x")
    top = Terminal(case, "-p", "4194304")
    assert top.wait_end() == 1
    top.wait("--pid 4194304: there is no such process")
    case.tool("top", "-p", "1", "--once").fails("cli.top-pid-excludes")
