# SPDX-License-Identifier: BSD-2-Clause
"""Users without the necessary rights: the message must name the missing capability. Root may record other users'
jobs."""
import os
import shutil
import subprocess

from lib import process
from lib.runner import test
from lib.tool import PROFTRACE, row

NOBODY = 65534


def as_nobody(*capabilities):
    """Returns a command that runs another one as nobody, with only these capabilities."""
    caps = ",".join(f"+{c}" for c in capabilities)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            *([f"--inh-caps={caps}", f"--ambient-caps={caps}"] if caps else [])]


def nobodys_tool(case, capabilities, *args):
    """The build may lie in a place that nobody cannot enter."""
    case.dir.chmod(0o777)
    binary = case.dir / "proftrace"
    if not binary.exists():
        shutil.copy(PROFTRACE, binary)
    return case.tool("--no-trace", "-o", case.dir, *args, binary=binary,
                     wrap=as_nobody(*capabilities))


@test("no root, a job of root's: names CAP_SYS_PTRACE")
def others_job(case):
    job, before = case.training()
    for capabilities in ((), ("bpf", "perfmon")):
        tool = nobodys_tool(case, capabilities, "-p", job.pid, "--record", "0:2")
        tool.fails("target.process-not-permitted", job.pid, 0)
        assert tool.said("common.capability-missing", "CAP_SYS_PTRACE"), tool.err
    before.check(0)


@test("no root, a job of one's own: names what is missing of CAP_BPF and CAP_PERFMON")
def own_job(case):
    popen = subprocess.Popen([*as_nobody(), "sleep", "100"])
    case.finally_(popen.wait)
    case.finally_(popen.kill)
    process.wait_for(lambda: os.stat(f"/proc/{popen.pid}").st_uid == NOBODY, 10, "its user")
    for capabilities, missing in (((), "CAP_BPF and CAP_PERFMON"),
                                  (("bpf",), "CAP_PERFMON"),
                                  (("perfmon",), "CAP_BPF")):
        tool = nobodys_tool(case, capabilities, "-p", popen.pid, "--duration", "1s")
        tool.fails("attach.bpf-not-permitted")
        assert tool.messages()[-1].causes == [("common.capability-missing", [missing])], tool.err
        assert "libbpf" not in tool.err, tool.err


def sleeper(case):
    popen = subprocess.Popen(["sleep", "100"])
    case.finally_(popen.wait)
    case.finally_(popen.kill)
    return popen.pid


@test("root of a container that lacks a capability: names that one, and not sudo")
def root_without(case):
    pid = sleeper(case)
    for lacks, name, key in (("bpf", "CAP_BPF", "attach.bpf-not-permitted"),
                             ("perfmon", "CAP_PERFMON", "attach.bpf-not-permitted"),
                             ("sys_ptrace", "CAP_SYS_PTRACE", "target.process-not-permitted")):
        tool = case.tool("-p", pid, "--duration", "1s", "--no-trace",
                         wrap=["setpriv", f"--bounding-set=-sys_admin,-{lacks}"])
        tool.fails(key)
        assert tool.messages()[-1].causes == [("common.capability-missing-to-root", [name])], tool.err
    tool = case.tool("doctor", wrap=["setpriv", "--bounding-set=-sys_admin,-perfmon"])
    assert tool.wait() == 1 and "needs CAP_PERFMON," in tool.out, tool.out


@test("no /proc, that of another pid namespace, or no /sys: says which")
def mounts(case):
    pid = sleeper(case)
    for wrap, words in (
            (["unshare", "-m", "sh", "-c", 'umount -l /proc; exec "$0" "$@"'], ["common.proc-not-mounted", "/proc"]),
            # proftrace is process 1 in that namespace. In /proc process 1 is init, which it would record.
            (["unshare", "--pid", "--fork"], ["common.proc-of-other-namespace", 1]),
            (["unshare", "-m", "sh", "-c", 'umount -l /sys; exec "$0" "$@"'], ["capture.sched-btf-unreadable", "/sys is not mounted"])):
        tool = case.tool("-p", 1 if "--pid" in wrap else pid, "--duration", "1s", "--no-trace", wrap=wrap)
        tool.fails(*words)
        assert not tool.recordings()


@test("no root, nor a place to write to: the privilege first")
def neither(case):
    job, before = case.training()
    private = case.dir / "private"
    private.mkdir(0o700)
    tool = nobodys_tool(case, (), "-p", job.pid, "--record", "0:2", "-o", private)
    tool.fails("attach.bpf-not-permitted")
    assert tool.said("common.capability-missing", "CAP_BPF and CAP_PERFMON"), tool.err
    assert not tool.said("cli.place-*"), tool.err
    before.check(0)


@test("no right to read the libraries: names CAP_DAC_READ_SEARCH")
def unreadable(case):
    program = case.dir / "private"
    shutil.copy("/bin/sleep", program)
    program.chmod(0o711)
    popen = subprocess.Popen([program, "100"])
    case.finally_(popen.wait)
    case.finally_(popen.kill)
    tool = nobodys_tool(case, ("bpf", "perfmon", "sys_ptrace"), "-p", popen.pid, "--record", "0:2")
    tool.fails("capture.libraries-unreadable", popen.pid, program, "CAP_DAC_READ_SEARCH")


@test("job of another user, profiled by root")
def root_watches(case):
    # torch may lie in a home directory that no other user can read.
    case.dir.chmod(0o777)
    job = case.job("mlp_train.py", wrap=as_nobody("dac_read_search", "dac_override"))
    job.wait_steps(3)
    assert os.stat(f"/proc/{job.pid}").st_uid == NOBODY
    before = process.Snapshot(job.pid)
    tool = case.tool("-p", job.pid, "--record", "0:3", "--no-trace").done()
    assert row(tool.report(), "summary")["steps"] == 3
    before.check(0)
