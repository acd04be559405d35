# SPDX-License-Identifier: BSD-2-Clause
"""Finds the places in a process's memory that point to proftrace's library in that process."""
import bisect
import pathlib
import re
import signal
import struct
import subprocess

from lib import process
from lib.process import PAGE, mappings, private_pages
from lib.tool import PROFTRACE

LIBRARY = pathlib.Path(PROFTRACE).with_name("libproftrace_cupti.so")
ENTRY_CNT, ENTRY_BYTES = 2048, 16  # cupti_shim/entries_x86.c
ARENA = 64 << 20  # glibc's, aligned


def symbols():
    """Returns the places of the library's entries, their number in use, and its hash function."""
    said = subprocess.run(["nm", LIBRARY], text=True, capture_output=True, check=True).stdout
    return {name: int(address, 16) for address, name in
            re.findall(r"^(\w+) [tb] (entries|hash_of|function_cnt)$", said, re.MULTILINE)}


SYMBOLS = symbols()


def replacements(memory, base):
    """Returns the addresses of the functions to which pointers were changed. The places of unused entries may have
    words left from earlier mappings at that address."""
    memory.seek(base + SYMBOLS["function_cnt"])
    cnt, = struct.unpack("<I", memory.read(4))
    assert cnt <= ENTRY_CNT, cnt
    first = base + SYMBOLS["entries"]
    return sorted([base + SYMBOLS["hash_of"], *range(first, first + cnt * ENTRY_BYTES, ENTRY_BYTES)])


def is_of_library(ranges, i):
    """True for the library's mappings, and for the nameless one with its data."""
    return LIBRARY.name in ranges[i][4] or (
        not ranges[i][4] and i > 0 and ranges[i][0] == ranges[i - 1][1] and is_of_library(ranges, i - 1))


def is_stack(ranges, i):
    """True for a stack, which has a guard below it. Words left on stacks do not count. An arena of malloc() is no
    stack."""
    start, _, _, _, name = ranges[i]
    below = ranges[i - 1] if i else (0, 0, "", 0, "")
    return name == "[stack]" or (not name and start % ARENA != 0 and below[1] == start and
                                 not below[4] and below[2].startswith("---"))


def read(memory, pid, mapped):
    """Reads the memory. Of a file's mapping, reads only what differs from the file."""
    start, stop, perms, _, name = mapped
    if perms[1] == "-" and name.startswith("/"):
        pages = list(private_pages(pid, start, stop))
        if not pages:
            return b""
        start, stop = pages[0], pages[-1] + PAGE
    try:
        memory.seek(start)
        return memory.read(stop - start)
    except OSError:
        return b""


def led_astray(pid):
    """Returns the words of a process's data that are one of those addresses, each with its protection, its file and the
    entry."""
    ranges, found = mappings(pid), []
    bases = [start - offset for start, _, _, offset, name in ranges if LIBRARY.name in name][:1]
    if not bases:
        return found
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        addresses = replacements(memory, bases[0])
        # Neither the lowest 16 bits, nor the highest, zeros, of which memory is full: find() looks for a last byte first.
        ends = {struct.pack("<Q", a)[2:6] for a in addresses}
        for i, (start, stop, perms, _, name) in enumerate(ranges):
            if perms[0] != "r" or perms[2] == "x" or perms[3] == "s" or name.startswith("[v") or \
                    is_of_library(ranges, i) or is_stack(ranges, i):
                continue
            data = read(memory, pid, ranges[i])
            for end in ends:
                at = data.find(end)
                while at >= 0:
                    if at % 8 == 2:
                        word, = struct.unpack_from("<Q", data, at - 2)
                        k = bisect.bisect_left(addresses, word)
                        if k < len(addresses) and addresses[k] == word:
                            found.append((perms, name, (word - addresses[0]) // ENTRY_BYTES))
                    at = data.find(end, at + 1)
    return found


def protections(pid):
    """Returns the protections of private file mappings. Adjacent parts count as one."""
    parts = []
    for start, stop, perms, _, name in mappings(pid):
        if not name.startswith("/") or LIBRARY.name in name or perms[3] == "s":
            continue
        if parts and parts[-1][1:] == [start, perms, name]:
            parts[-1][1] = stop
        else:
            parts.append([start, stop, perms, name])
    return {tuple(p) for p in parts}


class Data:
    """A process's pointers and protections before proftrace came."""

    def __init__(self, pid):
        self.pid, self.protections = pid, protections(pid)

    def check(self):
        """In the end everything must be as before."""
        process.wait_for(lambda: not process.is_served(self.pid), 60, "the library to leave")
        astray = led_astray(self.pid)
        assert not astray, f"{len(astray)} pointers still lead to the library: {astray[:5]}"
        now = protections(self.pid)
        assert now >= self.protections, f"protections: {self.protections - now} became {now - self.protections}"


def seen(tool):
    """Returns how many functions are seen through how many pointers, from proftrace -v's output."""
    found = re.search(r"(\d+) of \d+ functions are seen through (\d+) pointers", tool.err)
    assert found, f"pointers were not used: {tool.err}"
    assert int(found[1]) and int(found[2]), found[0]
    return int(found[1]), int(found[2])


def kill_in_windows(case, job):
    """Kills proftrace twice while the library sees the job's operators. The job must go on as before."""
    data = Data(job.pid)
    for _ in range(2):
        # Holds for steps of any length, as in pointers/pointer_hooks.py.
        tool = case.tool("-v", "-p", job.pid, "--inject", "--max-overhead", "0.01%", "--record", "0:1000000000",
                         "--no-trace")
        seen(tool.wait_recording(60))
        job.wait_steps(3)
        tool.signal(signal.SIGKILL)
        tool.wait()
        data.check()
        job.wait_steps(3)
