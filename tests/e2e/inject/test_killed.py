# SPDX-License-Identifier: BSD-2-Clause
"""The injecting program gets SIGKILL between any two of its actions."""
import unittest

from common import LIBRARY, Target, eventually, inject, steps

KINDS = "malloc compute sleep poll epoll read write cond eintr itimer".split()


class Killed(unittest.TestCase):
    def test_each_step(self):
        with Target(*KINDS) as target:
            masks, threads = target.blocked(), target.threads()
            for step in steps():
                with self.subTest(step):
                    lines = [r.line for r in inject(target.pid, f"image={LIBRARY}",
                                                    f"name=lib{step}.so", f"die={step}")]
                    self.assertEqual(lines, [])
                    self.assertIsNone(target.process.poll(), f"dead after {step}")
            result, = inject(target.pid, f"path={LIBRARY}")
            self.assertEqual((result.err, result.value), (0, 1001003), result.line)
            # Threads that wait for the dead injector must give up, and no thread may keep a foreign signal mask.
            self.assertTrue(eventually(lambda: target.threads() == threads, 20), target.threads())
            self.assertEqual(target.blocked(), masks)
            status, said = target.end()
            self.assertEqual(status, 0, said)

    def test_a_long_deadline(self):
        """Threads that wait for a dead injector give up soon, even if its deadline was long."""
        with Target("read") as target:
            threads = target.threads()
            for step in ("MAIN_HELD", "FD_READY", "ENDED"):
                inject(target.pid, f"image={LIBRARY}", f"name=lib{step}.so", "deadline=20000", f"die={step}")
            self.assertTrue(eventually(lambda: target.threads() == threads, 12), target.threads())
            status, said = target.end()
            self.assertEqual(status, 0, said)

    def test_at_once_again(self):
        """A thread of the target still runs the dead injector's code when the next one comes."""
        for step in ("STUB_RUNS", "STUB_HELD", "MAIN_SET", "MAIN_RUNS", "MAIN_HELD"):
            with self.subTest(step), Target("read", "write", "compute") as target:
                for i in range(4):
                    inject(target.pid, f"path={LIBRARY}", f"die={step}")
                    result, = inject(target.pid, f"path={LIBRARY}")
                    self.assertEqual((result.err, result.value), (0, 1001003 + 1000 * i),
                                     result.line)
                status, said = target.end()
                self.assertEqual(status, 0, said)


if __name__ == "__main__":
    unittest.main()
