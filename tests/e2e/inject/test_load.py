# SPDX-License-Identifier: BSD-2-Clause
"""The injected library must run, and the program must be as before."""
import os
import unittest

from common import BIN, LIBRARY, MIX, Target, eventually, inject

TIMES = 120


class Load(unittest.TestCase):
    def load(self, target, *options):
        result, = inject(target.pid, *options)
        self.assertEqual(result.err, 0, result.line)
        return result

    def test_path(self):
        with Target("sleep", "poll") as target:
            threads, descriptors = target.threads(), target.descriptors()
            self.assertEqual(self.load(target, f"path={LIBRARY}").value, 1001003)
            self.assertEqual(target.maps().count("libcounted.so") > 0, True)
            self.assertTrue(eventually(lambda: target.threads() == threads))
            self.assertEqual(target.descriptors(), descriptors)
            self.assertEqual(target.regions(), 0)
            self.assertEqual(target.end()[0], 0)

    def test_image(self):
        with Target("poll", "cond") as target:
            descriptors = target.descriptors()
            for name in ("liba.so", "libb.so", "libc2.so"):
                result = self.load(target, f"image={LIBRARY}", f"name={name}", "arg=12345")
                # Each is its own object, although the descriptor's number is the same.
                self.assertEqual(result.value, 1001005)
                self.assertIn(f"/memfd:{name}", target.maps())
            self.assertEqual(target.descriptors(), descriptors)
            self.assertEqual(target.end()[0], 0)

    def test_second_time_only_calls(self):
        with Target("cond") as target:
            for how in (f"path={LIBRARY}", f"image={LIBRARY}"):
                first = target.maps().count("libcounted")
                results = [self.load(target, how, "name=libcounted.so") for _ in range(3)]
                self.assertEqual([r.loaded for r in results], [int(first > 0), 1, 1])
            self.assertEqual(results[2].value, 1006003)
            self.assertEqual(target.end()[0], 0)

    def test_hundreds_under_load(self):
        with Target(*MIX) as target:
            results = inject(target.pid, f"path={LIBRARY}", f"times={TIMES}", "deadline=20000")
            self.assertEqual([r.line for r in results if r.err], [])
            self.assertEqual([r.value for r in results],
                             [1000003 + 1000 * i for i in range(1, TIMES + 1)])
            stopped = sorted(r.stopped_us for r in results)
            print(f"\nstopped: median {stopped[TIMES // 2]} us, largest {stopped[-1]} us", flush=True)
            self.assertLess(stopped[TIMES // 2], 20000)
            status, said = target.end()
            self.assertEqual(status, 0, said)

    def test_each_kind_alone(self):
        for kind in ("compute", "sleep", "poll", "epoll", "cond", "fork", "eintr", "itimer",
                     "threads"):
            with self.subTest(kind), Target("alone:" + kind) as target:
                results = inject(target.pid, f"path={LIBRARY}", "times=20", "deadline=10000")
                self.assertEqual([r.value for r in results],
                                 [1000003 + 1000 * i for i in range(1, 21)], results[-1].line)
                self.assertTrue(all(r.tid == target.pid for r in results))
                status, said = target.end()
                self.assertEqual(status, 0, said)

    def test_python(self):
        code = ("import sys, threading, time, signal\n"
                "done = threading.Event()\n"
                "signal.signal(signal.SIGTERM, lambda *_: done.set())\n"
                "def work():\n"
                "    while not done.is_set():\n"
                "        assert sum(i * i for i in range(1000)) == 332833500\n"
                "threading.Thread(target=work).start()\n"
                "print('ready', flush=True)\n"
                "while not done.is_set():\n"
                "    before = time.monotonic(); time.sleep(0.01)\n"
                "    assert time.monotonic() - before >= 0.01\n")
        with Target(command=["python3", "-c", code]) as target:
            for i in range(1, 21):
                result = self.load(target, f"image={LIBRARY}", "name=libcounted.so")
                self.assertEqual(result.value, 1000003 + 1000 * i)
            status, said = target.end()
            self.assertEqual(status, 0, said)

    def test_container(self):
        """Own mount and pid namespaces, the library's path invisible there."""
        script = (f"mount -t tmpfs none /mnt && mkdir /mnt/bin && cp {BIN}/target /mnt/bin && "
                  f"mount -t tmpfs none {BIN} && exec /mnt/bin/target poll cond malloc")
        command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child",
                   "sh", "-c", script]
        with Target(command=command) as outer:
            with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="utf-8") as file:
                inner = int(file.read().split()[0])
            for i in range(1, 6):
                result, = inject(inner, f"image={LIBRARY}", "name=libcounted.so")
                self.assertEqual((result.err, result.value), (0, 1000003 + 1000 * i), result.line)
            result, = inject(inner, f"path={LIBRARY}", "symbol=counted_call")
            self.assertEqual((result.err, result.loaded), (0, 1), result.line)
            result, = inject(inner, "path=/nowhere/libmissing.so")
            self.assertEqual(result.err, -80, result.line)
            os.kill(inner, 15)
            self.assertEqual(outer.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
