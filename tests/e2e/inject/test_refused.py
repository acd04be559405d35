# SPDX-License-Identifier: BSD-2-Clause
"""If an injection is impossible, the message must say why, and nothing may have changed."""
import errno
import os
import resource
import signal
import subprocess
import time
import unittest

from common import BIN, LIBRARY, SYSCALLS, Target, eventually, inject


class Refused(unittest.TestCase):
    def refused(self, target, error, words, *options):
        before = target.maps()
        result, = inject(target.pid, *(options or (f"path={LIBRARY}",)))
        self.assertEqual(-result.err, error, result.line)
        self.assertIn(words, result.reason)
        self.assertEqual("libcounted" in target.maps(), "libcounted" in before)
        self.assertEqual(target.regions(), 0)
        return result

    def still_well(self, target):
        status, said = target.end()
        self.assertEqual(status, 0, said)

    def test_static(self):
        with Target(command=[os.path.join(BIN, "target-static")]) as target:
            self.refused(target, errno.EOPNOTSUPP, "static")

    def test_musl(self):
        """musl is recognised by its loader's name, so the test needs no musl."""
        with open("/lib64/ld-linux-x86-64.so.2", "rb") as file:
            loader = file.read()
        path = os.path.join(BIN, "ld-musl-x86_64.so.1")
        with open(path, "wb") as file:
            file.write(loader)
        os.chmod(path, 0o755)
        with Target(command=[path, os.path.join(BIN, "target"), "sleep"]) as target:
            self.refused(target, errno.EOPNOTSUPP, "musl")

    def test_other_tracer(self):
        with Target("sleep") as target:
            code = (f"import ctypes, time; c = ctypes.CDLL(None); "
                    f"assert c.ptrace(0x4206, {target.pid}, None, None) == 0; "
                    "print('traced', flush=True); time.sleep(100)")
            with subprocess.Popen(["python3", "-c", code], stdout=subprocess.PIPE,
                                  text=True) as tracer:
                self.assertEqual(tracer.stdout.readline(), "traced\n")
                self.refused(target, errno.EBUSY, f"process {tracer.pid} (python3")
                tracer.kill()
            self.still_well(target)

    def test_stopped(self):
        with Target("sleep") as target:
            os.kill(target.pid, signal.SIGSTOP)
            time.sleep(0.1)
            self.refused(target, errno.EAGAIN, "kill -CONT")
            os.kill(target.pid, signal.SIGCONT)
            self.still_well(target)

    def test_seccomp(self):
        with Target(f"kill:{SYSCALLS['openat']}", "sleep") as target:
            self.refused(target, errno.EACCES, "forbids openat")
            self.still_well(target)

    def test_seccomp_of_memfd_only(self):
        with Target(f"kill:{SYSCALLS['memfd_create']}", "sleep") as target:
            self.refused(target, errno.EACCES, "forbids memfd_create", f"image={LIBRARY}")
            result, = inject(target.pid, f"path={LIBRARY}")
            self.assertEqual((result.err, result.value), (0, 1001003), result.line)
            self.still_well(target)

    def test_seccomp_that_lets_it_through(self):
        # Container runtimes do this too: clone3 "does not exist", so clone is called.
        with Target(f"errno:{SYSCALLS['clone3']}", f"kill:{SYSCALLS['getpid']}", "cond") as target:
            self.refused(target, errno.EACCES, "system call 39", f"path={LIBRARY}",
                         f"syscall={SYSCALLS['getpid']}")
            for i in range(1, 6):
                result, = inject(target.pid, f"image={LIBRARY}", "name=libcounted.so")
                self.assertEqual((result.err, result.value), (0, 1000003 + 1000 * i), result.line)
            self.still_well(target)

    def test_never_in_a_handler(self):
        with Target("alone:handler") as target:
            result = self.refused(target, errno.EAGAIN, "signal handler", f"path={LIBRARY}",
                                  "deadline=1000")
            self.assertLess(result.stopped_us, 100000)
            self.still_well(target)

    def test_no_room_for_a_thread(self):
        """The injector tries one thread only. Another thread would find no room either."""
        with Target("sleep", "cond") as target:
            with open(f"/proc/{target.pid}/status", encoding="utf-8") as status:
                used = next(int(line.split()[1]) for line in status if line.startswith("VmSize"))
            limit = (used + 1024) * 1024  # our region has room, a stack has not
            resource.prlimit(target.pid, resource.RLIMIT_AS, (limit, limit))
            result = self.refused(target, errno.ENOMEM, "can make no thread")
            self.assertEqual(result.stops, 1, result.line)
            self.still_well(target)

    def test_loader_says_no(self):
        with Target("sleep", "cond") as target:
            self.refused(target, errno.ELIBBAD, "cannot open shared object file",
                         "path=/nowhere/lib.so")
            self.refused(target, errno.ELIBBAD, "undefined symbol: no_such", f"path={LIBRARY}",
                         "symbol=no_such")
            self.refused(target, errno.ELIBBAD, "file too short", "image=/etc/hostname")
            self.still_well(target)

    def test_deadline(self):
        with Target("sleep", "cond") as target:
            threads = target.threads()
            result, = inject(target.pid, f"path={LIBRARY}", "symbol=counted_slow", "deadline=300")
            self.assertEqual(result.err, -errno.ETIMEDOUT, result.line)
            self.assertLess(result.took_us, 1000000)
            self.assertLess(result.stopped_us, 100000)
            self.assertTrue(eventually(lambda: target.threads() == threads))
            self.assertTrue(eventually(lambda: target.regions() == 0))
            self.still_well(target)

    def test_gone(self):
        with Target("sleep") as target:
            target.process.kill()
            target.process.wait()
            result, = inject(target.pid, f"path={LIBRARY}")
            self.assertEqual(result.err, -errno.ESRCH, result.line)


if __name__ == "__main__":
    unittest.main()
