# SPDX-License-Identifier: BSD-2-Clause
"""The library in a process, and the memory that it shares with proftrace. No other process may use them."""
import fcntl
import os
import pathlib
import signal
import subprocess
import time

from common import HERE, NOBODY, compiled, running
from lib import process
from lib.job import ROOT
from lib.runner import test
from lib.tool import PROFTRACE, STOPPED, report

BUILD = pathlib.Path(PROFTRACE).resolve().parent
TRAIN = BUILD / "simgpu/13/client/train"


def as_user(uid):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


def job(case, user=0, **settings):
    """A process of a user that uses the simulated device until it is ended."""
    log = case.dir / f"job{len(list(case.dir.glob('job*')))}"
    with open(log, "w") as out:
        popen = subprocess.Popen([*(as_user(user) if user else ()), TRAIN, "0", "3000", "1", "2", "0"], stdout=out, stdin=subprocess.DEVNULL,
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


VICTIM = 4711

# Tries to reach other processes by their fields in /proc: fd and map_files, memory, descriptors.
REACH = """
import os, sys, ctypes, pathlib
libc = ctypes.CDLL(None, use_errno=True)
reached = []
def attempt(what, act):
    try:
        act()
        reached.append(what)
    except OSError:
        pass
def call(*args):
    if libc.syscall(*args) < 0:
        raise OSError(ctypes.get_errno(), "")
for pid, mapping in zip(sys.argv[1::2], sys.argv[2::2]):
    proc = pathlib.Path("/proc", pid)
    for name in ("fd", "map_files", "task/" + pid + "/fd"):
        attempt(f"{pid} {name}", lambda: os.listdir(proc / name))
    for fd in range(64):
        attempt(f"{pid} fd {fd}", lambda: os.stat(proc / "fd" / str(fd)))
    for flags in (os.O_RDONLY, os.O_RDWR):
        attempt(f"{pid} map", lambda: os.open(proc / "map_files" / mapping, flags))
        attempt(f"{pid} mem", lambda: os.open(proc / "mem", flags))
    attempt(f"{pid} maps", lambda: open(proc / "maps").read(1))
    pidfd = os.pidfd_open(int(pid))
    for fd in range(64):
        attempt(f"{pid} getfd {fd}", lambda: call(438, pidfd, fd, 0))
print(*reached, sep="\\n")
"""


def shared_mapping(pid):
    """Range and rights of the memory that proftrace and the library share."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        if "/memfd:proftrace (deleted)" in line:
            words = line.split()
            begin, end = words[0].split("-")
            return f"{int(begin, 16):x}-{int(end, 16):x}", words[1]
    return None


def links(pid):
    found = []
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(os.readlink(fd))
        except FileNotFoundError:
            pass
    return found


@test("the memory that the library shares: no other user opens, maps or wakes it; it is sealed, and has no descriptor")
def reach(case):
    names = pathlib.Path("/proc/net/unix")
    before = {line.split()[-1] for line in names.read_text().splitlines()}
    popen = job(case, user=VICTIM)
    tool = case.tool("-p", popen.pid, "--no-steps", "--duration", "60s", "--no-trace", "--no-report")
    tool.wait_recording()
    process.wait_for(lambda: shared_mapping(popen.pid), 30, "the library")
    ours, theirs = shared_mapping(tool.pid), shared_mapping(popen.pid)
    assert ours[1] == theirs[1] == "rw-s", (ours, theirs)
    process.wait_for(lambda: not [p for p in links(popen.pid) if "memfd:" in p], 30, "its last descriptor")
    assert not [p for p in links(tool.pid) if "memfd:" in p], links(tool.pid)
    processes = [str(popen.pid), theirs[0], str(tool.pid), ours[0]]
    attempts = ["python3", "-c", REACH, *processes]
    done = subprocess.run([*as_user(NOBODY), *attempts], capture_output=True, text=True, check=True)
    assert not done.stdout.split(), done.stdout
    # Root can do all of it, so the attempts themselves are right.
    done = subprocess.run(attempts, capture_output=True, text=True, check=True)
    assert all(f"{pid} {what}" in done.stdout.splitlines()
               for pid in (popen.pid, tool.pid) for what in ("fd", "map", "mem", "maps")), done.stdout
    with open(f"/proc/{popen.pid}/map_files/{theirs[0]}", "r+b") as memory:
        seals = fcntl.fcntl(memory, fcntl.F_GET_SEALS)
        wanted = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
        assert seals & wanted == wanted, seals
    library = [line.split()[0] for line in pathlib.Path(f"/proc/{popen.pid}/maps").read_text().splitlines()
               if "/memfd:" in line and " r-xp " in line]
    with open(f"/proc/{popen.pid}/map_files/{library[0]}", "rb") as text:
        seals = fcntl.fcntl(text, fcntl.F_GET_SEALS)
        assert seals & (wanted | fcntl.F_SEAL_WRITE) == wanted | fcntl.F_SEAL_WRITE, seals
    assert not {n for n in {line.split()[-1] for line in names.read_text().splitlines()} - before
                if n.startswith("@") and "proftrace" in n}
    tool.interrupt().done(60)
    assert popen.poll() is None


def stalled(case, kind):
    """A process with CUDA's libraries, or with files of such names. Its pthread_create does not return."""
    sources = {"libcuda.so.1": ("cuInit", "cuLaunchKernel"), "libcupti.so.13": ("cuptiSubscribe", "cuptiGetVersion")}
    for name, functions in sources.items():
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", case.dir / name, "-"], check=True, text=True,
                       input="".join(f"int {f}(void) {{ return 0; }}\n" for f in functions))
    return running(case, *as_user(VICTIM), compiled(case, "stall"), *(case.dir / name for name in sources), kind)


def blocked(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("SigBlk")), 16)


@test("a pthread_create that waits for a vfork or for signals: recorded without the library, soon; what waits goes on by itself")
def stall(case):
    for kind, why in (("vfork", "it waits for the child of its vfork"), ("pause", "")):
        popen = stalled(case, kind)
        children = process.children(popen.pid)
        begin = time.monotonic()
        tool = case.tool("-p", popen.pid, "--duration", "1s", "--no-trace", "--no-report").done(30)
        assert time.monotonic() - begin < 15 * process.PATIENCE
        assert tool.said("device.no-device-times") and tool.said("inject.injected-call-thread-late", popen.pid, why), tool.err
        assert tool.recordings(), tool.err
        if kind == "pause":
            continue
        # The kernel changes no mask of a thread that it cannot stop.
        assert blocked(popen.pid), "its mask"
        (child,) = set(process.children(popen.pid)) - set(children)
        os.kill(child, signal.SIGKILL)
        process.wait_for(lambda: not blocked(popen.pid), 10, "its own mask")
        assert popen.poll() is None


@test("Ctrl-C ends a session at once whose library waits for a process that does not come back")
def stall_interrupted(case):
    for kind in ("vfork", "pause"):
        popen = stalled(case, kind)
        tool = case.tool("-p", popen.pid, "--duration", "1s", "--no-trace", "--no-report")
        process.wait_for(lambda: blocked(popen.pid), 20, "the injected call")
        begin = time.monotonic()
        tool.interrupt().fails(STOPPED)
        assert time.monotonic() - begin < 1.5 * process.PATIENCE, tool.err
        assert not tool.said("device.no-device-times"), tool.err


HOLD = """
import socket, sys, time
held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
held.bind(chr(0) + sys.argv[1])
print("ready", flush=True)
time.sleep(100)
"""


@test("the abstract name that the lock of loading once had, held by a stranger: the library is loaded")
def lock(case):
    popen = job(case)
    start = pathlib.Path(f"/proc/{popen.pid}/stat").read_text().rpartition(")")[2].split()[19]
    running(case, *as_user(NOBODY), "python3", "-c", HOLD, f"proftrace-inject-{popen.pid}-{start}")
    tool = case.tool("-p", popen.pid, "--no-steps", "--duration", "60s", "--no-trace", "--no-report")
    tool.wait_recording()
    process.wait_for(lambda: shared_mapping(popen.pid), 30, "the library")
    tool.interrupt().done(60)
    assert not tool.said("inject.busy") and not tool.said("device.shim-in-use"), tool.err
    locks = pathlib.Path("/run/proftrace/targets.lock").stat()
    assert (locks.st_uid, locks.st_mode & 0o777, locks.st_size) == (0, 0o600, 0), locks


@test("shared memory of a process that never answers, wakes all the time, takes our mark, writes noise: told, and it ends")
def corrupted(case):
    program = case.dir / "corrupt"
    subprocess.run(["gcc", "-O1", f"-I{ROOT}", "-o", program, HERE / "corrupt.c"], check=True)
    # The first use of a device may take 20 s; a window waits so long for an answer, and no longer. Four at once start slowly.
    begin, tools = time.monotonic(), {}
    for kind, seconds in (("silent", 40), ("wakes", 10), ("owner", 10), ("noise", 10)):
        tools[kind] = case.tool("run", "--no-steps", "--duration", "2s", "--no-trace", "--no-report", "-o",
                                case.dir / f"{kind}.ptrec", "--", program, kind, seconds)
    for kind, tool in tools.items():
        tool.done(60)
        rows = report(case.dir / f"{kind}.ptrec")["summary"]["rows"]
        assert 1.9 < float(rows[0]["window"].removesuffix(" s")) < 3 * process.PATIENCE, (kind, rows)
        assert kind != "silent" or tool.said("device.cupti-late"), tool.err
    assert time.monotonic() - begin < 55 * process.PATIENCE, begin
