# SPDX-License-Identifier: BSD-2-Clause
"""A systemd for one test: process 1 of its own namespaces, with the units of one directory only."""
import os
import pathlib
import re
import shutil
import subprocess

from lib import process
from lib.runner import Skip

SYSTEMD = "/lib/systemd/systemd"
# It would set kernel parameters, which are the machine's. The job's files and proftrace stay visible.
START = """
for group in {groups}; do echo $$ > $group/cgroup.procs || exit 9; done
exec unshare -m -p -u -C -f --kill-child sh -ec '
mount --make-rprivate /
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,ro,bind /proc/sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
export container=lxc SYSTEMD_UNIT_PATH={units}
exec {systemd} --system --unit=default.target --log-target=console --log-level=warning'
"""


def hierarchies():
    """Where the machine has control groups mounted; roots of other tests have them too. A group of cpuset has no
    processors until it is told which."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        before, after = line.split(" - ")
        kind, _, options = after.split(" ")
        at = before.split(" ")[4]
        if kind in ("cgroup", "cgroup2") and "cpuset" not in options and at.startswith("/sys/fs/cgroup"):
            yield pathlib.Path(at)


class OwnSystemd:
    def __init__(self, case, units):
        if not os.access(SYSTEMD, os.X_OK) or not shutil.which("nsenter"):
            raise Skip("no systemd")
        for name in ("basic", "shutdown", "sysinit"):
            (units / f"{name}.target").write_text("[Unit]\nDefaultDependencies=no\n")
        (units / "default.target").write_text("[Unit]\nDefaultDependencies=no\nAllowIsolate=yes\n")
        self.groups = [at / f"proftrace-test-{os.getpid()}" for at in hierarchies()]
        case.finally_(self.stop)
        self.log = case.dir / "systemd.log"
        self.popen = None
        try:
            for group in self.groups:
                group.mkdir()
        except OSError as error:
            raise Skip(f"no systemd of its own: {error}") from None
        script = START.format(groups=" ".join(map(str, self.groups)), units=units, systemd=SYSTEMD)
        with open(self.log, "w") as log:
            self.popen = subprocess.Popen(["sh", "-c", script], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            process.wait_for(self.is_up, 15, "systemd")
        except AssertionError:
            raise Skip(f"no systemd of its own starts here: {self.log.read_text()[-300:]}") from None

    def first(self):
        """Returns the number that its process 1 has outside."""
        children = pathlib.Path(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children").read_text().split()
        return children[0] if children else None

    def is_up(self):
        assert self.popen.poll() is None, "ended"
        return self.first() and self.ask("is-system-running").stdout.strip() in ("running", "degraded")

    def inside(self, *command):
        return subprocess.run(["nsenter", "-t", self.first(), "-m", "-p", "-u", "-C", *map(str, command)],
                              text=True, capture_output=True, stdin=subprocess.DEVNULL)

    def ask(self, *words):
        return self.inside("systemctl", "--no-pager", *words)

    def start(self, unit):
        done = self.ask("start", unit)
        assert done.returncode == 0, done.stderr + self.ask("status", unit).stdout + self.log.read_text()

    def show(self, unit, name):
        return self.ask("show", unit, "--value", "-p", name).stdout.strip()

    def stop(self):
        if self.popen:
            self.popen.kill()
            self.popen.wait()
        for group in self.groups:
            if not group.exists():
                continue
            process.wait_for(lambda: not re.search(r"\d", "".join(
                at.read_text() for at in group.rglob("cgroup.procs"))), 20, f"{group} to be empty")
            for folder, _, _ in os.walk(group, topdown=False):
                os.rmdir(folder)
