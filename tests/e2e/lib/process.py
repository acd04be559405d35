# SPDX-License-Identifier: BSD-2-Clause
"""A process as /proc shows it: threads, descriptors, mappings, and text that differs from its file. Breakpoints are
such differences."""
import contextlib
import os
import pathlib
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
# How many times longer than on a common machine a test may wait: emulated processors are slow.
PATIENCE = float(os.environ.get("TEST_PATIENCE", 1))
# The highest byte of a page's entry in pagemap: present (bit 63) and not of a file or shared (61).
IS_PRIVATE = bytes(byte & 0x80 and not byte & 0x20 for byte in range(256))


def wait_for(condition, timeout_s, what):
    timeout_s *= PATIENCE
    begin = time.monotonic()
    end = begin + timeout_s
    while not condition():
        now = time.monotonic()
        assert now < end, f"waited {timeout_s} s for {what}"
        # The jobs are to have the processors: looking takes a third of one at most.
        time.sleep(min(max(0.01, 2 * (now - begin)), 0.5))
        begin = time.monotonic()


def threads(pid):
    return sorted(int(t) for t in os.listdir(f"/proc/{pid}/task"))


def is_served(pid):
    """True if the library that proftrace put into a process has its thread there."""
    for tid in threads(pid):
        try:
            with open(f"/proc/{pid}/task/{tid}/comm") as comm:
                if comm.read().strip() == "proftrace-shim":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            pass
    return False


def descriptors(pid):
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
        except FileNotFoundError:
            pass
    return found


def mappings(pid):
    """(start, end, perms, offset, path) each."""
    rows = []
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        span, perms, offset, _, _, *path = line.split(maxsplit=5)
        start, end = (int(x, 16) for x in span.split("-"))
        rows.append((start, end, perms, int(offset, 16), path[0] if path else ""))
    return rows


def lasting_maps(pid):
    """Mappings that a running job has for good: files and code. The kernel's own page for single
    steps and return probes, [uprobes], stays mapped until the process ends."""
    return [m for m in mappings(pid)
            if (m[4].startswith("/") or "x" in m[2]) and m[4] not in ("[uprobes]", "[vsyscall]")]


def private_pages(pid, start, end):
    """Addresses of the pages of a file's mapping that are no longer the file's own."""
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as f:
        f.seek(start // PAGE * 8)
        data = f.read((end - start) // PAGE * 8)
    found = data[7::8].translate(IS_PRIVATE)
    i = found.find(1)
    while i >= 0:
        yield start + i * PAGE
        i = found.find(1, i + 1)


def changed_text(pid):
    """[(path, file offset, in file, in memory)] of every byte of mapped code that differs. Pages
    that are still the file's own cannot differ, so only the others are compared."""
    changed = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for start, end, perms, offset, path in mappings(pid):
            if "x" not in perms or not path.startswith("/"):
                continue
            pages = list(private_pages(pid, start, end))
            if not pages:
                continue
            with open(f"/proc/{pid}/root{path}", "rb") as file:
                for page in pages:
                    memory.seek(page)
                    file.seek(page - start + offset)
                    mine, theirs = memory.read(PAGE), file.read(PAGE)
                    theirs = theirs.ljust(PAGE, b"\0")
                    if mine != theirs:
                        changed += [(os.path.basename(path), page - start + offset + i, b, a)
                                    for i, (a, b) in enumerate(zip(mine, theirs)) if a != b]
    return changed


def is_probed(pid):
    return bool(changed_text(pid))


class Snapshot:
    """What a tool must leave as it was. Descriptors and mappings whose names begin with a
    word of `passing` come and go without it; so do threads beside the `lasting` ones (None: all)."""

    def __init__(self, pid, passing=(), lasting=None):
        self.pid, self.passing = pid, passing
        self.own_text = set(changed_text(pid))  # some libraries write their own code
        self.threads, self.descriptors = lasting or threads(pid), self.lasting_descriptors()
        self.threads_pass = lasting is not None
        self.maps = self.lasting_maps()

    def lasting_descriptors(self):
        return {fd: name for fd, name in descriptors(self.pid).items()
                if not name.startswith(self.passing)}

    def lasting_maps(self):
        return [m for m in lasting_maps(self.pid) if not m[4].startswith(self.passing)]

    def new_text(self):
        return set(changed_text(self.pid)) - self.own_text

    def check_text(self, timeout_s=10):
        """The kernel takes breakpoints of a killed tool out soon, not at once: hence the wait."""
        wait_for(lambda: not self.new_text(), timeout_s,
                 f"the text of {self.pid} to be as before: {len(self.new_text())} bytes differ")

    def check(self, timeout_s=10):
        self.check_text(timeout_s)
        if self.threads_pass:
            wait_for(lambda: threads(self.pid) == self.threads, timeout_s, "threads that pass")
        else:
            now = threads(self.pid)
            assert now == self.threads, f"threads: {self.threads} became {now}"
        now = self.lasting_descriptors()
        assert now == self.descriptors, f"descriptors: {self.descriptors} became {now}"
        now = self.lasting_maps()
        assert now == self.maps, f"mappings: {set(now) ^ set(self.maps)}"


def state(pid):
    """Returns R, S, D, T, Z or another state from /proc/PID/stat."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0]


def system_call(pid):
    """Returns the number of the main thread's system call, or None outside of one."""
    word = pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0]
    return int(word) if word != "running" else None


def children(pid):
    found = []
    for tid in threads(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that ends
            found += map(int, pathlib.Path(f"/proc/{pid}/task/{tid}/children").read_text().split())
    return sorted(found)


def descendants(pid):
    """Returns the processes below it, parents before their children."""
    found = children(pid)
    for child in found:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ends
            found += children(child)
    return found
