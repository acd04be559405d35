# SPDX-License-Identifier: BSD-2-Clause
"""proftrace's rights at each time, read from /proc while it runs."""
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from common import AS_NOBODY, running, sleeping
from lib import process
from lib.runner import test
from lib.tool import PROFTRACE

CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID, CAP_SETPCAP = 2, 6, 7, 8
CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_NICE, CAP_PERFMON, CAP_BPF = 19, 21, 23, 38, 39
CAP_CHECKPOINT_RESTORE = 40
CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER = 0, 1, 3
TO_OPEN = (CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER)
TO_LEAVE = (CAP_SETUID, CAP_SETGID, CAP_SETPCAP)
SOCKETS = pathlib.Path("/run/proftrace")


def status_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def core_limits_of(pid):
    """The soft and the hard limit of core dumps."""
    lines = pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()
    return next(line.split()[4:6] for line in lines if line.startswith("Max core file size"))


def capabilities(status, field):
    return int(status[field][0], 16)


def recorded(case):
    tool = case.tool("-p", sleeping(case).pid, "--duration", "1s", "--no-trace", "--no-report")
    tool.done(60)
    return tool.recordings()[0]


def children_of(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def stuck_output(case, recording, env=None, who=()):
    """Yields the process that makes a page, while nobody reads the page, and the page."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    popen = subprocess.Popen([*who, PROFTRACE, "report", "--html", "-", str(recording)], stdout=writer,
                             env=env)
    os.close(writer)
    case.finally_(popen.wait)
    case.finally_(popen.kill)

    def made():
        return [p for p in children_of(popen.pid) if status_of(p)["Seccomp"] == ["2"]]
    process.wait_for(made, 30, "the output's process")
    return popen, reader, made()[0]


@test("a report is made without rights, as nobody, as who called sudo, or as who has none; in the sandbox")
def output(case):
    recording = recorded(case)
    os.chmod(recording.parent, 0o700)
    recording.chmod(0o644)
    shared = case.dir / "shared.ptrec"
    shutil.copy(recording, shared)
    for env, uid, who, path in ((None, "65534", (), recording),
                                ({**os.environ, "SUDO_UID": "4711", "SUDO_GID": "4712"}, "4711", (), recording),
                                (None, "65534", AS_NOBODY, shared)):
        popen, reader, made = stuck_output(case, path, env, who)
        status = status_of(made)
        assert status["Uid"] == [uid] * 4 and "0" not in status["Gid"], status
        assert not status["Groups"], status
        for field in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            assert capabilities(status, field) == 0, (field, status)
        # A user without capabilities cannot empty this set, and it gives that user no right.
        assert who or capabilities(status, "CapBnd") == 0, status
        assert status["NoNewPrivs"] == ["1"] and status["Seccomp"] == ["2"], status
        # Standard streams, the page (standard output again), the recording, the socket for more.
        def links():
            return [os.readlink(p) for p in pathlib.Path(f"/proc/{made}/fd").iterdir()]
        process.wait_for(lambda: str(path) in links() and len(links()) == 6, 30, "the recording and the page")
        with open(reader) as page:
            assert page.read().rstrip().endswith("</html>")
        assert popen.wait(30) == 0


def is_multi():
    return json.loads(subprocess.run([PROFTRACE, "doctor", "-f", "json"], capture_output=True,
                                     text=True).stdout)["machine"]["uprobe_multi"]


def check_session(pid, multi):
    """The session reads and records. It may write only to files that are open."""
    status = status_of(pid)
    held = capabilities(status, "CapPrm")
    assert held == capabilities(status, "CapEff")
    assert held >> CAP_BPF & 1 and held >> CAP_SYS_PTRACE & 1, status
    assert not multi or not held >> CAP_SYS_ADMIN & 1, status
    assert not [c for c in TO_OPEN if held >> c & 1], status
    assert capabilities(status, "CapBnd") == 0 and status["NoNewPrivs"] == ["1"], status
    assert status["Seccomp"] == ["2"], status
    assert core_limits_of(pid) == ["0", "0"]


def check_files(pid):
    """The process that opens files may do nothing else, and has no data of the target."""
    status = status_of(pid)
    for field in ("CapPrm", "CapEff"):
        assert capabilities(status, field) == sum(1 << c for c in (*TO_OPEN, *TO_LEAVE)), status
    assert capabilities(status, "CapBnd") == 0 and status["NoNewPrivs"] == ["1"], status
    assert core_limits_of(pid) == ["0", "0"]
    assert not [link for link in (os.readlink(p) for p in pathlib.Path(f"/proc/{pid}/fd").iterdir())
                if "bpf" in link or "perf" in link], pid


def proftraces_of(pid):
    """Children that run proftrace, without the calibration's and the started program."""
    found = []
    for child in process.descendants(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ends
            if os.readlink(f"/proc/{child}/exe") == os.path.realpath(PROFTRACE) and status_of(child)["State"][0] != "Z":
                found.append(child)
    return found


def has_ended(pid):
    """The test runner adopts orphans. It does not wait for them before the end."""
    return not os.path.exists(f"/proc/{pid}") or status_of(pid)["State"][0] == "Z"


def files_of(pid):
    return [c for c in proftraces_of(pid) if status_of(c)["Seccomp"] == ["0"]]


@test("while it records CAP_SYS_ADMIN is gone, nothing can be gained, and nothing opened to write: -p, run, -p A,B")
def session(case):
    multi = is_multi()
    first, second = sleeping(case), sleeping(case)
    for args, cnt in ((["-p", first.pid], 1), (["-p", f"{first.pid},{second.pid}"], 2),
                      (["run"], 1)):
        program = ["--", "sleep", "100"] if args == ["run"] else []
        tool = case.tool(*args, "--no-steps", "--no-trace", "--no-report", "--duration", "60s", *program)
        process.wait_for(lambda: len(tool.recordings()) == cnt and (cnt == 1 or len(proftraces_of(tool.pid)) == 3),
                         60, "a session")
        files = files_of(tool.pid)
        assert len(files) == 1, [status_of(p) for p in proftraces_of(tool.pid)]
        check_files(files[0])
        sessions = [tool.pid] if cnt == 1 else [p for p in proftraces_of(tool.pid) if p not in files]
        assert len(sessions) == cnt, sessions
        for pid in sessions:
            check_session(pid, multi)
        # With several sessions the parent reads their filters too.
        assert status_of(tool.pid)["Seccomp"] == ["2"], status_of(tool.pid)
        before = [p.name for p in SOCKETS.iterdir()]
        assert len(before) >= cnt, before
        tool.signal(signal.SIGINT)
        if args == ["run"]:
            process.wait_for(lambda: has_ended(files[0]), 30, "the end of the other process")
            tool.signal(signal.SIGTERM)
            tool.wait(30)
        else:
            tool.done(30)
        assert not os.path.exists(f"/proc/{files[0]}"), files
        for recording in tool.recordings():
            assert subprocess.run([PROFTRACE, "report", recording], capture_output=True).returncode == 0
        assert not [p for p in SOCKETS.iterdir() if p.name in (str(first.pid), str(second.pid))], SOCKETS


# Gives itself a filter that allows everything.
FILTERED = """
import ctypes, struct, time
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
assert libc.prctl(22, 2, program, 0, 0) == 0
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


def filter_readers(tool):
    """Processes that read other processes' filters for the tool's session. They are no children of the session."""
    found = []
    for proc in pathlib.Path("/proc").glob("[1-9]*"):
        with contextlib.suppress(OSError, KeyError):  # it ends
            if (os.readlink(proc / "exe") == os.path.realpath(PROFTRACE)
                    and os.readlink(proc / "cwd") == os.path.realpath(tool.dir)
                    and capabilities(status_of(proc.name), "CapPrm") == 1 << CAP_SYS_ADMIN | 1 << CAP_SYS_PTRACE):
                found.append(proc.name)
    return found


@test("a process with a seccomp filter does not keep the session from its own; without CUDA nobody traces it")
def filtered(case):
    job = running(case, "python3", "-c", FILTERED)
    assert status_of(job.pid)["Seccomp"] == ["2"]
    for args, cnt in (["-p", job.pid], 1), (["-p", f"{job.pid},{sleeping(case).pid}"], 2):
        tool = case.tool(*args, "--no-steps", "--no-trace", "--no-report", "--duration", "60s")
        process.wait_for(lambda: len(tool.recordings()) == cnt, 60, "a session")
        files = files_of(tool.pid)
        assert len(files) == 1, files
        for pid in {tool.pid, *proftraces_of(tool.pid)} - set(files):
            # One filter is there from the start. The other one forbids tracing.
            assert status_of(pid)["Seccomp"] == ["2"] and status_of(pid)["Seccomp_filters"] == ["2"], status_of(pid)
        assert not filter_readers(tool), filter_readers(tool)
        tool.interrupt().done(30)


def killed(case):
    job = sleeping(case)
    tool = case.tool("-p", job.pid, "--no-steps", "--duration", "60s")
    process.wait_for(lambda: tool.recordings() and files_of(tool.pid), 60, "a session")
    return job, tool, files_of(tool.pid)[0]


@test("the process that opens files ends with its session, and leaves nothing")
def session_killed(case):
    job, tool, files = killed(case)
    assert (SOCKETS / str(job.pid)).exists()
    # Signals that end a group or a terminal must not end this process before its session.
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        os.kill(files, sig)
    process.wait_for(lambda: status_of(files)["State"][0] == "S", 10, "it to wait for requests")
    assert tool.popen.poll() is None
    tool.signal(signal.SIGKILL)
    process.wait_for(lambda: has_ended(files), 30, "its end")
    assert not (SOCKETS / str(job.pid)).exists()
    assert [p.name for p in tool.dir.iterdir() if p.name.startswith(".")] == []


@test("without the process that opens files the recording is kept, and the rest is told")
def files_killed(case):
    job, tool, files = killed(case)
    os.kill(files, signal.SIGKILL)
    time.sleep(0.5)
    tool.signal(signal.SIGINT)
    tool.fails("recording.not-written", timeout_s=30)
    assert tool.said("common.file-process-ended"), tool.err
    assert subprocess.run([PROFTRACE, "report", tool.recordings()[0]], capture_output=True).returncode == 0
    # The next session removes what this one left.
    again = case.tool("-p", job.pid, "--no-steps", "--duration", "1s", "--no-trace")
    again.done(60)
    assert not (SOCKETS / str(job.pid)).exists() and not again.said("capture.control-not-reachable"), again.err


@test("a pipe that nobody reads holds nobody up when its session is ended")
def pipe(case):
    fifo = case.dir / "fifo"
    os.mkfifo(fifo)
    tool = case.tool("-p", sleeping(case).pid, "--no-steps", "--duration", "1s", "--no-trace", "--report-file", fifo)
    process.wait_for(lambda: [p for p in proftraces_of(tool.pid) if status_of(p)["Uid"][0] == "65534"], 60,
                     "the output's process")
    files = files_of(tool.pid)
    assert len(files) == 1, files
    time.sleep(0.5)
    tool.interrupt()
    assert tool.wait(30) == -signal.SIGINT
    process.wait_for(lambda: has_ended(files[0]), 30, "its end")


@test("a program that `run` starts has all that its caller has")
def program(case):
    own = status_of(os.getpid())
    tool = case.tool("run", "--no-steps", "--no-trace", "--no-report", "--", "sh", "-c",
                     "cat /proc/self/status /proc/self/limits; sleep 1")
    tool.wait(60)
    lines = dict(line.split(":", 1) for line in tool.out.splitlines() if ":" in line)
    for field in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Uid"):
        assert lines[field].split() == own[field], (field, lines[field], own[field])
    limits = next(line.split()[4:6] for line in tool.out.splitlines() if line.startswith("Max core file size"))
    assert limits == core_limits_of(os.getpid()), limits


def in_sandbox(popen, *allowed):
    """Returns its status once it is in its sandbox. Since it first gave up a right, it must have held only the allowed
    ones."""
    mask = sum(1 << bit for bit in (*TO_LEAVE, *allowed))
    seen = []

    def look():
        assert popen.poll() is None, f"ended with {popen.returncode}"
        status = status_of(popen.pid)
        if status["NoNewPrivs"] == ["1"]:
            seen.append(capabilities(status, "CapEff"))
        return status["Seccomp"] == ["2"] and status
    process.wait_for(look, 60, "a sandbox")
    assert not [hex(caps) for caps in seen if caps & ~mask], [hex(caps) for caps in seen]
    return look()


def check_nobody(status, uid="65534"):
    assert status["Uid"] == [uid] * 4 and "0" not in status["Gid"] and not status["Groups"], status
    for field in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert capabilities(status, field) == 0, (field, status)
    assert status["NoNewPrivs"] == ["1"] and status["Seccomp"] == ["2"], status


@test("cpu watches as nobody, or as who called sudo, once its programs are attached")
def cpu(case):
    for env, uid in ((None, "65534"), ({**os.environ, "SUDO_UID": "4711", "SUDO_GID": "4712"}, "4711")):
        tool = case.tool("cpu", "--duration", "60s", "--format", "json", env=env)
        check_nobody(in_sandbox(tool.popen, CAP_BPF, CAP_PERFMON), uid)
        time.sleep(1)  # for it to see something
        tool.interrupt().done(30)
        tables = json.loads(tool.out)
        assert tables["cpu"]["rows"] and tables["process"]["rows"], tables
        assert not tool.messages(), tool.err


@test("ctl waits for an answer as nobody")
def ctl(case):
    job = sleeping(case)
    tool = case.tool("-p", job.pid, "--no-trace", "--no-report", "--duration", "60s")
    process.wait_for(lambda: (SOCKETS / str(job.pid)).exists() and tool.recordings(), 60, "a session")
    tool.signal(signal.SIGSTOP)
    asked = case.tool("ctl", job.pid, "stop")
    check_nobody(in_sandbox(asked.popen))
    tool.signal(signal.SIGCONT)
    asked.done(60)
    assert asked.out.strip(), asked.err
    tool.done(60)


@test("doctor prints as nobody what it saw of a process")
def doctor_prints(case):
    for output in ("text", "json"):
        reader, writer = os.pipe()
        size = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, b" " * size)
        popen = subprocess.Popen([PROFTRACE, "doctor", "-p", str(os.getpid()), "-f", output],
                                 stdout=writer)
        os.close(writer)
        case.finally_(popen.wait)
        case.finally_(popen.kill)
        in_sandbox(popen, CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_NICE, CAP_SYS_PTRACE,
                   CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH)
        # The command first looks into a process, with the rights for that. Then the full pipe stops it when it prints.
        process.wait_for(lambda: capabilities(status_of(popen.pid), "CapPrm") == 0, 60, "the end of its look")
        check_nobody(status_of(popen.pid))
        with open(reader) as out:
            said = out.read()
        assert str(os.getpid()) in said and "CAP_SYS_ADMIN" in said, said
        assert popen.wait(60) == 0


MANY_LIBRARIES = """
import ctypes, os, shutil, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
shutil.copy("/bin/true", sys.argv[1] + "/0.so")
for i in range(1, 8000):
    path = f"{sys.argv[1]}/{i}.so"
    os.link(sys.argv[1] + "/0.so", path)
    fd = os.open(path, os.O_RDONLY)
    libc.mmap(None, 4096, 5, 2, fd, 0)
    os.close(fd)
print("ready", flush=True)
time.sleep(1000)
"""


@test("doctor looks into a process as nobody, who may read everything and write nothing")
def doctor_looks(case):
    libraries = case.dir / "libraries"
    libraries.mkdir()
    # It takes a moment to look at so many, and is seen at it.
    job = running(case, "python3", "-c", MANY_LIBRARIES, libraries)
    tool = subprocess.Popen([PROFTRACE, "doctor", "-p", str(job.pid)], stdout=subprocess.PIPE, text=True)
    case.finally_(tool.wait)
    case.finally_(tool.kill)
    seen = []
    while tool.poll() is None:
        maps = pathlib.Path(f"/proc/{tool.pid}/status").read_text()
        status = {name: value.split() for name, _, value in (line.partition(":") for line in maps.splitlines())}
        # Without effective capabilities it is about to give up the others.
        if "CapEff" not in status or not capabilities(status, "CapEff"):
            continue
        if status["Uid"][0] != "0" and capabilities(status, "CapPrm"):
            seen.append(status)
        else:
            assert not seen, "root once more"
        if len(seen) > 50:
            break
    assert len(seen) > 10, "it was not seen at it"
    # The moment between the change of user and the filter.
    assert all(status["Seccomp"] == ["2"] for status in seen[5:]), [status["Seccomp"] for status in seen]
    for status in seen:
        assert status["Uid"] == ["65534"] * 4 and "0" not in status["Gid"] and not status["Groups"], status
        held = capabilities(status, "CapPrm")
        assert held and not held & ~sum(1 << c for c in (CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH)), status
    said, _ = tool.communicate(timeout=60)
    assert str(job.pid) in said and "python" in said, said


@test("doctor says what is held when")
def doctor(case):
    said = subprocess.run([PROFTRACE, "doctor", "-f", "json"], capture_output=True, text=True)
    machine = json.loads(said.stdout)["machine"]
    held = {stage: set(names) for stage, names in machine["capabilities"].items()}
    assert list(held) == ["attach", "record", "end", "output", "files"] and not held["output"], held
    assert held["attach"] > held["record"] > held["end"], held
    to_leave = {"CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"}
    assert held["files"] == {"CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN", *to_leave}, held
    assert held["attach"] & held["files"] == to_leave and "CAP_BPF" not in held["end"], held
    text = subprocess.run([PROFTRACE, "doctor"], capture_output=True, text=True).stdout
    assert "until the probes are in: CAP_SYS_ADMIN" in text and "the output: none" in text, text
    assert "opens no file to write to (a seccomp filter)" in text, text
    assert "opens its files: CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_CHOWN" in text, text


OWNER = 4713

# Stops proftrace's processes of its user, a given number of times, and continues each after the given seconds.
STOPPER = f"""
import os, pathlib, signal, sys, time
left, stop_s = int(sys.argv[1]), float(sys.argv[2])
print("ready", flush=True)
while left:
    for proc in pathlib.Path("/proc").glob("[1-9]*"):
        try:
            mine = proc.stat().st_uid in (0, {OWNER}) and int(proc.name) != os.getpid() \\
                and f"\\nUid:\\t{OWNER}\\t" in (proc / "status").read_text() and b"proftrace" in (proc / "cmdline").read_bytes()
            if mine and (proc / "stat").read_text().rsplit(") ", 1)[1][0] != "T":
                os.kill(int(proc.name), signal.SIGSTOP)
                left -= 1
                if stop_s:
                    time.sleep(stop_s)
                    os.kill(int(proc.name), signal.SIGCONT)
                    time.sleep(0.1)
        except OSError:
            pass
"""


def with_stopper(case, times, stop_s, *args):
    """Runs a tool whose tables nobody reads. A process of the same user stops the output's process several times."""
    who = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups"]
    stopper = running(case, *who, "python3", "-c", STOPPER, times, stop_s)
    reader, writer = os.pipe()
    os.write(writer, b" " * fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096))
    tool = case.tool(*args, "--format", "json", stdout=writer,
                     env={**os.environ, "SUDO_UID": str(OWNER), "SUDO_GID": str(OWNER)})
    os.close(writer)
    return tool, stopper, reader


@test("who makes the output is stopped by a process of its user: continued; again and again: ended, the recording is kept")
def output_stopped(case):
    recording = recorded(case)
    recording.chmod(0o644)
    session = ("-p", sleeping(case).pid, "--duration", "1s", "--no-trace")
    for args in (("report", recording), session):
        tool, stopper, reader = with_stopper(case, 2, 0, *args)
        process.wait_for(lambda: stopper.poll() is not None or tool.popen.poll() is not None, 60, "its stops")
        assert tool.popen.poll() is None, tool.err
        with open(reader) as tables:
            assert "summary" in json.load(tables), tool.err
        tool.done(30)
        # Stopped for ever, or continued by another process before 0.1 s are over.
        for stop_s in 0, 0.09:
            tool, stopper, reader = with_stopper(case, 1000, stop_s, *args)
            tool.fails("privilege.output-process-stopped", 1, timeout_s=60)
            os.close(reader)
            stopper.kill()
            if args is session:
                assert tool.recordings()
                subprocess.run([PROFTRACE, "report", tool.recordings()[0]], check=True, capture_output=True)


@test("who makes the output is stopped with the session, as by Ctrl-Z: it goes on with it, however often")
def group_stopped(case):
    recording = recorded(case)
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    tool = case.tool("report", recording, "--html", "-", stdout=writer)
    os.close(writer)
    process.wait_for(lambda: [c for c in children_of(tool.pid) if status_of(c)["Seccomp"] == ["2"]], 30, "its process")
    (made,) = children_of(tool.pid)
    for _ in range(6):
        os.killpg(tool.pid, signal.SIGSTOP)
        time.sleep(0.4)
        assert process.state(tool.pid) == process.state(made) == "T"
        os.killpg(tool.pid, signal.SIGCONT)
        time.sleep(0.2)
        assert process.state(made) != "T"
    with open(reader) as page:
        assert page.read().rstrip().endswith("</html>")
    tool.done(30)
