"""A control group whose processes may run for a share of the time: of cgroup 2 (cpu.max), or of cgroup 1."""
import os
import pathlib
import time

PERIOD_US = 100000
V2, V1 = pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/cpu")


def _has_cpu(root):
    """cgroup 2 gives the processor's controller to the groups below."""
    try:
        if "cpu" not in (root / "cgroup.controllers").read_text().split():
            return False
        (root / "cgroup.subtree_control").write_text("+cpu")
    except OSError:
        return False
    return True


class Quota:
    """share: of one processor. kind: None if this machine has no such control groups."""

    def __init__(self, share):
        self.kind = "cgroup 2" if _has_cpu(V2) else "cgroup 1" if V1.is_dir() else None
        self.group = (V2 if self.kind == "cgroup 2" else V1) / f"proftrace-test-{os.getpid()}"
        self.quota_us = int(share * PERIOD_US)

    def __enter__(self):
        if not self.kind:
            return self
        try:
            self.group.mkdir()
            if self.kind == "cgroup 2":
                (self.group / "cpu.max").write_text(f"{self.quota_us} {PERIOD_US}")
            else:
                (self.group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (self.group / "cpu.cfs_quota_us").write_text(str(self.quota_us))
        except OSError as error:
            self.__exit__()
            print(f"no quota by {self.kind}: {error}", flush=True)
            self.kind = None
        return self

    def take(self, pid):
        (self.group / "cgroup.procs").write_text(str(pid))

    def throttled(self):
        """Returns how often the group has waited for its next period."""
        words = (self.group / "cpu.stat").read_text().split()
        return int(words[words.index("nr_throttled") + 1])

    def __exit__(self, *_):
        """Processes in the group go on without a quota."""
        if not self.group.is_dir():
            return
        for pid in (self.group / "cgroup.procs").read_text().split():
            (self.group.parent / "cgroup.procs").write_text(pid)
        for _ in range(100):
            try:
                self.group.rmdir()
                return
            except OSError:
                time.sleep(0.1)
