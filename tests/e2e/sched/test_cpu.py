# SPDX-License-Identifier: BSD-2-Clause
"""`proftrace cpu` against a spinner, /proc and itself."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from load import Load

PROFTRACE = os.environ["PROFTRACE"]


class Command(unittest.TestCase):
    def cpu(self, *args):
        out = subprocess.run([PROFTRACE, "cpu", *args], stdout=subprocess.PIPE, text=True, check=True)
        return out.stdout

    def test_process(self):
        with Load("spin") as load:
            before = self.exec_ns(load.pid)
            out = json.loads(self.cpu("--duration", "3s", "--top", "0", "--format", "json"))
            ran = self.exec_ns(load.pid) - before
        rows = [r for r in out["process"]["rows"] if r["pid"] == load.pid]
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0]["command"], "load")
        self.assertEqual(rows[0]["threads"], 2)
        self.assertAlmostEqual(rows[0]["cpu_percent"], rows[0]["run_ns"] / 3e7, delta=1)
        # The command itself takes time around the window.
        self.assertLessEqual(rows[0]["run_ns"], ran * 1.01)
        self.assertGreater(rows[0]["run_ns"], ran - 1.5e9)
        self.assertAlmostEqual(rows[0]["run_ns"] + rows[0]["runnable_ns"], 3e9, delta=0.1e9)

    @staticmethod
    def exec_ns(pid):
        return sum(int((t / "schedstat").read_text().split()[0])
                   for t in pathlib.Path(f"/proc/{pid}/task").iterdir())

    def test_cores(self):
        cpus = os.cpu_count()
        out = json.loads(self.cpu("--duration", "1s", "--format", "json"))
        rows = out["cpu"]["rows"]
        self.assertEqual([r["cpu"] for r in rows], ["all"] + [str(i) for i in range(cpus)])
        for r in rows[1:]:
            self.assertAlmostEqual(r["busy_ns"] + r["idle_ns"], 1e9, delta=0.1e9)
        self.assertEqual(rows[0]["busy_ns"], sum(r["busy_ns"] for r in rows[1:]))

    def test_intervals_and_top(self):
        out = self.cpu("--duration", "1s", "--interval", "500ms", "--top", "2", "--format", "csv")
        # Two intervals, and the whole.
        self.assertEqual(len(re.findall(r"^# CPU Utilization, \d\.\d+ to \d\.\d+ s$", out, re.M)), 2)
        self.assertEqual(out.count("# CPU Utilization\n"), 1)
        table = out.split("# CPU Utilization by Process\n")[-1].splitlines()
        self.assertEqual(len([line for line in table[1:] if line and not line.startswith("#")]), 2)

    def test_interrupt(self):
        process = subprocess.Popen([PROFTRACE, "cpu", "--duration", "60s"], stdout=subprocess.PIPE,
                                   text=True)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0)
        self.assertIn("CPU Utilization by Process", out)

    def test_no_privileges(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(PROFTRACE, folder)
            out = subprocess.run([copy, "cpu"], user=65534, group=65534, extra_groups=[],
                                 capture_output=True, text=True)
        self.assertEqual(out.returncode, 1)
        self.assertEqual(out.stdout, "")
        self.assertEqual(out.stderr, "proftrace: cannot watch the scheduler: needs CAP_BPF and "
                                     "CAP_PERFMON; run with sudo\n")


if __name__ == "__main__":
    unittest.main()
