# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel's scheduler programs say about threads of known behaviour (load.c), against /proc
and against the program itself. The machine may be busy with other things: durations are compared
with what /proc says of the same window, or as sums that hold whatever else runs."""
import json
import os
import pathlib
import subprocess
import unittest

from load import LOAD, Load

WATCH = os.environ["WATCH"]
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")


def watch(seconds, step_ms, *pids, **env):
    out = subprocess.run([WATCH, str(seconds), str(step_ms), *map(str, pids)],
                         capture_output=True, text=True, check=True, env=dict(os.environ, **env))
    return json.loads(out.stdout)


def total(rows, field="ns", **match):
    return sum(r[field] for r in rows if all(r[k] == v for k, v in match.items()))


class Threads(unittest.TestCase):
    def setUp(self):
        self.result = None

    def tearDown(self):
        if self.result:
            self.assertEqual(self.result["lost"], 0)

    def watch(self, *args, **env):
        self.result = watch(*args, **env)
        self.wall = self.result["cpu"]["wall_ns"]
        return self.result

    def named(self, pid, name):
        """Rows of the threads of that name; a row of a wait that never ended has no name itself."""
        tids = {int(t.name) for t in pathlib.Path(f"/proc/{pid}/task").iterdir()
                if (t / "comm").read_text().strip() == name}
        self.assertTrue(tids)
        return [r for r in self.result["rows"] if r["tid"] in tids]

    def assertNear(self, value, want, share, slack=0):
        self.assertLessEqual(abs(value - want), share * want + slack, f"{value} is not {want}")

    def test_spinner(self):
        with Load("spin") as load:
            out = self.watch(4, 0, load.pid)
            rows = self.named(load.pid, "spin")
        run, wait = (total(rows, state=s) for s in ("run", "runnable"))
        self.assertEqual(total(rows, state="blocked"), 0)
        # Run and wait times add up to the wall time exactly.
        self.assertEqual(run + wait, self.wall)
        self.assertNear(out["cpu"]["process_ns"], out["proc_ns"], 0.01, 2 * TICK_NS)
        self.assertGreater(run, wait / 10)

    def test_half(self):
        with Load("half") as load:
            out = self.watch(4, 0, load.pid)
            rows = self.named(load.pid, "half")
        slept = total(rows, state="blocked", reason="clock_nanosleep")
        run, cycles = total(rows, "cpu_ns", state="run"), total(rows, "cnt", state="blocked")
        self.assertGreater(cycles, 20)
        self.assertNear(run / cycles, 10e6, 0.05, 10e6 / cycles)
        self.assertNear(slept / cycles, 10e6, 0.10, 10e6 / cycles)
        self.assertEqual(total(rows), self.wall)
        self.assertNear(out["cpu"]["process_ns"], out["proc_ns"], 0.01, 2 * TICK_NS)

    def test_many_switches(self):
        """Run times of microseconds. A small loss in each would show in the sum."""
        with Load("echo") as load:
            out = self.watch(4, 0, load.pid)
            rows = self.named(load.pid, "echo")
        self.assertGreater(total(rows, "cnt", state="run"), 10000)
        self.assertEqual(total(rows), 2 * self.wall)
        self.assertNear(out["cpu"]["process_ns"], out["proc_ns"], 0.01, 2 * TICK_NS)

    def test_reasons(self):
        with Load("futex", "pipe", "sleep", "read") as load:
            self.watch(2, 0, load.pid)
            for name, reason in (("futex", "futex"), ("pipe", "poll"), ("sleep", "clock_nanosleep")):
                rows = self.named(load.pid, name)
                waited = total(rows, state="blocked", reason=reason)
                cnt = total(rows, "cnt", state="blocked", reason=reason)
                self.assertGreater(waited, 0.9 * self.wall, name)
                # The first and the last are cut at the window's edges.
                self.assertNear(waited / cnt, 50e6, 0.05, 2 * 50e6 / cnt)
                self.assertEqual(total(rows), self.wall, name)
            # The thread never switches in the whole window, but has a row.
            rows = self.named(load.pid, "read")
            self.assertEqual(total(rows, state="blocked", reason="read"), self.wall)

    def test_system_calls(self):
        """Times of system calls stand beside the states. They do not change the states."""
        with Load("map", "own", "sleep") as load:
            self.watch(2, 0, load.pid, WATCH_SYSCALLS="1")
            rows = self.named(load.pid, "map")
            loops = total(rows, "cnt", state="call", reason="munmap")
            self.assertGreater(loops, 20)
            self.assertNear(total(rows, "cnt", state="call", reason="mmap"), loops, 0, 1)
            rows = self.named(load.pid, "own")
            loops = total(rows, "cnt", state="call", reason="clock_nanosleep")
            self.assertNear(total(rows, "cnt", state="call", reason="getppid"), 100 * loops, 0, 100)
            # A call that is open at the window's end counts up to that end. The first call began before the window.
            rows = self.named(load.pid, "sleep")
            self.assertNear(total(rows, state="call", reason="clock_nanosleep"), self.wall, 0.05)
            for name in ("map", "own", "sleep"):
                rows = [r for r in self.named(load.pid, name) if r["state"] != "call"]
                self.assertEqual(total(rows), self.wall, name)

    def test_system_calls_by_step(self):
        """Calls of 50 ms reach over several steps of 7 ms. Each step has its part."""
        with Load("sleep") as load:
            self.watch(1.5, 7, load.pid, WATCH_SYSCALLS="1")
            rows = [r for r in self.named(load.pid, "sleep")
                    if r["state"] == "call" and r["reason"] == "clock_nanosleep"]
        self.assertGreater(len({r["step"] for r in rows}), 50)
        self.assertNear(total(rows), self.wall, 0.07)
        self.assertLess(total(rows, "cnt"), 35)

    def test_page_faults(self):
        with Load("map", "file") as load:
            try:
                self.watch(2, 0, load.pid, WATCH_SYSCALLS="1", WATCH_FAULTS="1")
            except subprocess.CalledProcessError as error:
                self.assertIn("handle_mm_fault", error.stderr)
                self.skipTest(error.stderr.strip())
            for name, kind, most in (("map", "anonymous memory", 64), ("file", "file", 128)):
                rows = self.named(load.pid, name)
                loops = total(rows, "cnt", state="call", reason="munmap")
                faults = total(rows, "cnt", state="fault", reason=f"page fault: {kind}")
                self.assertGreater(loops, 20)
                # The loops at the window's edges are cut. A page may be mapped before it is copied.
                self.assertLessEqual(64 * (loops - 1), faults)
                self.assertLessEqual(faults, most * (loops + 1))
                spent = total(rows, state="run") + total(rows, state="runnable")
                self.assertLess(total(rows, state="fault"), spent)

    def test_more_threads_than_cpus(self):
        cpus = os.cpu_count()
        with Load(*["spin"] * (3 * cpus)) as load:
            self.watch(2, 0, load.pid)
            rows = self.named(load.pid, "spin")
        run, wait = total(rows, state="run"), total(rows, state="runnable", reason="preempted")
        self.assertEqual(total(rows), 3 * cpus * self.wall)
        self.assertLessEqual(run, cpus * self.wall)
        self.assertGreater(wait, 1.9 * cpus * self.wall)

    def test_more_threads_than_places(self):
        """The kernel tables have few places here (PT_SCHED_MIN_THREADS). Threads without a place must be counted."""
        with Load(*["read"] * 4200) as load:
            out = watch(1, 0, load.pid)
        seen = {r["tid"] for r in out["rows"]}
        self.assertGreater(len(seen), 3000)
        self.assertGreaterEqual(out["lost"], 4201 - len(seen))
        self.assertGreater(out["lost"], 0)

    def test_steps(self):
        """Sleeps of 50 ms reach over steps of 7 ms, and a wait in read lasts through all steps."""
        with Load("sleep", "read", "spin") as load:
            self.watch(1.5, 7, load.pid)
            steps = sorted({r["step"] for r in self.result["rows"]})
            # The last step is empty, because it begins as the window ends.
            self.assertEqual(steps, list(range(steps[-1] + 1)))
            self.assertGreater(len(steps), 50)
            per_step = {}
            for name in ("sleep", "read", "spin"):
                rows = self.named(load.pid, name)
                per_step[name] = [total(rows, step=s) for s in steps]
                self.assertEqual(sum(per_step[name]), self.wall, name)
            read = self.named(load.pid, "read")
            self.assertEqual(total(read, "cnt"), 1)
        # In each step every thread has the same total time: the step's length.
        self.assertEqual(per_step["sleep"], per_step["read"])
        self.assertEqual(per_step["spin"], per_step["read"])
        self.assertTrue(all(ns >= 7e6 for ns in per_step["read"][:-1]))

    def test_children(self):
        with Load("fork") as load:
            out = self.watch(5, 0, load.pid)
        forks = [t for t in out["tasks"] if t["event"] == 1]
        exits = [t for t in out["tasks"] if t["event"] == 4 and t["last"]]
        self.assertTrue(forks)
        self.assertEqual({t["parent"] for t in forks}, {load.pid})
        self.assertEqual({t["exit_code"] for t in exits}, {7 << 8})
        child = forks[0]["pid"]
        self.assertIn(child, {t["pid"] for t in exits})
        # The window reaches from the program's first instruction to its last.
        self.assertNear(total(out["rows"], "cpu_ns", pid=child, state="run"), 0.3e9, 0.03)

    def test_new_threads_and_the_end(self):
        """The new target starts after the watch did, as a child of a target. The watch must see its end."""
        shell = subprocess.Popen(["sh", "-c", f"sleep 1; {LOAD} 1 sleep; exit 5"],
                                 stdout=subprocess.DEVNULL)
        out = watch(4, 0, shell.pid)
        self.assertEqual(shell.wait(), 5)
        events = {(t["event"], t["comm"]) for t in out["tasks"]}
        self.assertIn((3, "load"), events)
        self.assertIn((2, "load"), events)
        self.assertIn((5, "sleep"), events)
        codes = {t["pid"]: t["exit_code"] >> 8 for t in out["tasks"] if t["event"] == 4 and t["last"]}
        self.assertEqual(codes[shell.pid], 5)
        self.assertIn(3, codes.values())
        sleeper = [r for r in out["rows"] if r["comm"] == "sleep" and r["reason"] == "clock_nanosleep"]
        self.assertGreater(total(sleeper), 0.8e9)

    def test_system(self):
        with Load("half") as load:
            out = self.watch(5, 0, load.pid)
        cpu = out["cpu"]
        self.assertEqual(cpu["busy_ns"] + cpu["idle_ns"], cpu["cpus"] * self.wall)
        self.assertEqual(sum(c["busy_ns"] for c in cpu["per_cpu"]), cpu["busy_ns"])
        # On some machines /proc/stat lacks idle time. That time is neither busy nor idle here.
        wall = cpu["busy_ns"] + cpu["idle_ns"]
        busy, least, most = (100 * ns / wall for ns in (
            cpu["busy_ns"], out["proc_busy_ns"], wall - out["proc_idle_ns"]))
        self.assertGreater(busy, least - 2)
        self.assertLess(busy, most + 2)


if __name__ == "__main__":
    unittest.main()
