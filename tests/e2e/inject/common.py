# SPDX-License-Identifier: BSD-2-Clause
"""Targets, and the program that loads into them."""
import os
import re
import signal
import subprocess
import time

BIN = os.environ["BIN"]
LIBRARY = os.path.join(BIN, "libcounted.so")
SYSCALLS = {"openat": 257, "memfd_create": 319, "clone3": 435, "getpid": 39}
# Everything at once: threads in malloc and the loader, in waits of all kinds, in handlers.
MIX = ("malloc malloc dlopen compute sleep poll epoll read write cond cond fork eintr itimer "
       "handler threads").split()


class Result:
    """One line of the program `inject`."""

    def __init__(self, line):
        self.line = line
        found = re.fullmatch(r"err=(-?\d+) value=(-?\d+) loaded=(\d) stops=(\d+) stopped_us=(\d+) "
                             r"took_us=(\d+) tid=(\d+) reason=(.*)", line)
        (self.err, self.value, self.loaded, self.stops, self.stopped_us, self.took_us,
         self.tid) = map(int, found.groups()[:7])
        self.reason = found.group(8)


def inject(pid, *options):
    """Returns the results of `inject PID OPTIONS`, or none if it was killed."""
    done = subprocess.run([os.path.join(BIN, "inject"), str(pid), *options], check=False,
                          capture_output=True, text=True, timeout=60)
    return [Result(line) for line in done.stdout.splitlines()]


def steps():
    return subprocess.run([os.path.join(BIN, "inject"), "steps"], check=True, capture_output=True,
                          text=True).stdout.split()


class Target:
    """A program that prints "ready", runs until SIGTERM, and then says whether all was right."""

    def __init__(self, *args, command=None):
        command = command or [os.path.join(BIN, "target"), *args]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid
        time.sleep(0.1)  # each thread has begun

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        """Returns (exit status, output)."""
        os.kill(self.pid, signal.SIGTERM)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out + err

    def threads(self):
        return sorted(os.listdir(f"/proc/{self.pid}/task"))

    def descriptors(self):
        return sorted(os.listdir(f"/proc/{self.pid}/fd"))

    def maps(self):
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
            return maps.read()

    def regions(self):
        """Anonymous code, which only the loading itself makes in these programs."""
        return len(re.findall(r"^\S+ r-xp 00000000 00:00 0\s*$", self.maps(), re.M))

    def blocked(self):
        """The signal masks of all threads."""
        masks = {}
        for tid in self.threads():
            try:
                with open(f"/proc/{self.pid}/task/{tid}/status", encoding="utf-8") as status:
                    masks[tid] = re.search(r"SigBlk:\s*(\w+)", status.read()).group(1)
            except OSError:
                pass
        return masks


def eventually(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
