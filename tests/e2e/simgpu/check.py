#!/usr/bin/env python3
"""Unmodified PyTorch on the simulated stack: check.py OUT PYTHON, in an empty directory.

Each job runs with a truth log and, as an ordinary CUPTI client would see it, with the observer; what
the two say must be equal to the nanosecond.
"""
import glob
import os
import pathlib
import re
import subprocess
import sys
import unittest

import truth

HERE = pathlib.Path(__file__).resolve().parent
OUT, PYTHON = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
FARM = str(OUT / "venv/bin/python")
GOLDEN = HERE.parents[1] / "simgpu/golden"


class Simgpu(unittest.TestCase):
    def job(self, *command, python=FARM, observe=True, wrap=(), **knobs):
        """Runs a job. Returns the rows of its truth log, and its output."""
        name = self.id().split(".")[-1]
        prefix = os.path.abspath(name)
        for old in glob.glob(prefix + ".*"):
            os.unlink(old)
        env = dict(os.environ, SIMGPU_TRUTH=prefix + ".truth", TMPDIR=os.getcwd(), **knobs)
        if observe:
            env.update(CUDA_INJECTION64_PATH=str(OUT / "observer.so"),
                       OBSERVER_OUT=prefix + ".seen")
        done = subprocess.run([*wrap, python, *command], env=env, capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        rows = truth.read(prefix + ".truth")
        if observe:
            self.assertEqual(truth.as_observed(rows), truth.observed(prefix + ".seen"))
        self.assertFalse([r for r in rows if r["kind"] == "misuse"])
        return rows, done.stdout

    def kernels(self, rows, part):
        return [r for r in rows if r["kind"] == "kernel" and part in r["name"]]

    def test_training(self):
        rows, _ = self.job(HERE / "jobs/train.py", "3")
        self.assertEqual(len(self.kernels(rows, "sim_cudnn_conv_fprop")), 3)
        self.assertEqual(len(self.kernels(rows, "sim_cudnn_conv_wgrad")), 3)
        self.assertTrue(self.kernels(rows, "multi_tensor_apply_kernel"))
        self.assertEqual({r["api"] for r in self.kernels(rows, "at6native")}, {"cudaLaunchKernel"})
        # from one forward convolution to the next, each step must have the same kernels
        names = [r["name"] for r in rows if r["kind"] == "kernel"]
        first, second, third = [i for i, n in enumerate(names) if n == "sim_cudnn_conv_fprop"]
        self.assertGreater(second - first, 50)
        self.assertEqual(names[second:third], names[third:][:third - second])

    def test_training_without_cudnn_with_amp(self):
        rows, _ = self.job(HERE / "jobs/train.py", "2", "cudnn=off", "amp")
        self.assertFalse(self.kernels(rows, "sim_cudnn_conv"))
        self.assertTrue(self.kernels(rows, "im2col_kernel"))
        self.assertTrue(self.kernels(rows, "_f16_"))

    def test_profiler_agrees(self):
        rows, printed = self.job(HERE / "jobs/train.py", "3", "profile", observe=False)
        n = truth.counts(rows)
        self.assertEqual(printed.split("\n")[-2],
                         f"kernels {n['kernel']} copies {n['memcpy']} sets {n['memset']}")

    def test_graphs(self):
        rows, _ = self.job(HERE / "jobs/graph.py")
        nodes = [r for r in truth.activities(rows) if r["graph"] != "0"]
        self.assertEqual(len(nodes), 30)
        self.assertEqual(len({r["correlation"] for r in nodes}), 10)
        self.assertEqual({r["api"] for r in nodes}, {"cudaGraphLaunch"})

    def test_compile(self):
        rows, _ = self.job(HERE / "jobs/compile.py")
        triton = self.kernels(rows, "triton_")
        self.assertGreaterEqual(len(triton), 6)
        self.assertEqual({r["api"] for r in triton}, {"cuLaunchKernel"})

    def test_four_devices(self):
        rows, _ = self.job(HERE / "jobs/devices.py", SIMGPU_DEVICES="4")
        products = self.kernels(rows, "matmul")
        self.assertEqual([sum(r["dev"] == str(d) for r in products) for d in range(4)],
                         [1, 2, 3, 4])
        self.assertEqual([r["dev"] for r in rows if r["name"] == "PtoP"], ["3"])

    def test_data_parallel_with_a_slow_rank(self):
        rows, _ = self.job("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                           HERE / "jobs/ddp.py", "5", "20", SIMGPU_DEVICES="2")
        reduced = self.kernels(rows, "ncclDevKernel_AllReduce_Sum_f32")
        ranks = {}
        for r in reduced:
            ranks.setdefault(r["file"], []).append(r)
        fast, slow = sorted(ranks.values(), key=lambda k: -sum(map(self.took, k)))
        # both ranks' kernels end together, and the fast rank's wait for the slow rank
        self.assertEqual([r["end_ns"] for r in fast], [r["end_ns"] for r in slow])
        self.assertGreater(sum(map(self.took, fast[1:])), 4 * 15e6)
        self.assertLess(sum(map(self.took, slow[1:])), 10e6)
        self.assertEqual(len(self.kernels(rows, "SendRecv")), 2)

    def test_late_attach(self):
        """A client that is loaded into a running job must see only later calls."""
        rows, _ = self.job(
            "-c", "import ctypes, os, torch\nx = torch.ones(100, device='cuda')\n"
            "for _ in range(50): x.add_(1)\n"
            f"ctypes.CDLL('{OUT}/observer.so').InitializeInjection()\n"
            "for _ in range(70): x.mul_(1)\ntorch.cuda.synchronize()\n",
            observe=False, OBSERVER_OUT=os.path.abspath("late"))
        told = truth.observed("late")
        self.assertEqual(told, truth.as_observed(rows)[-70:])
        self.assertEqual(truth.counts(rows)["kernel"], 121)
        self.assertEqual([r["name"] for r in rows if r["kind"] == "tool"], ["attached"])

    def recorded(self, name, **knobs):
        subprocess.run([GOLDEN / "golden.py", "record", FARM, OUT / "observer.so", name],
                       check=True, env=dict(os.environ, **knobs))
        return pathlib.Path(name)

    def compare(self, *records):
        done = subprocess.run([GOLDEN / "golden.py", "compare", *records], capture_output=True,
                              text=True)
        return done.returncode, done.stdout

    def test_golden(self):
        """The comparison must tell equal machines from different ones."""
        one = self.recorded("one")
        self.assertEqual(self.compare(one, self.recorded("same"))[0], 0)
        status, said = self.compare(one, self.recorded("other", SIMGPU_LAUNCH_CBID="505"))
        self.assertEqual(status, 1)
        self.assertRegex(said, r" 0 +[1-9][0-9]*  runtime __cudaLaunchKernel_v13000, 1 x kernel")

    def test_like_hardware(self):
        """Calls must return what they returned on an H200 with another PyTorch. A call that does not must be found."""
        simulation = self.recorded("simulation")
        status, said = self.compare(GOLDEN / "h200.txt", simulation)
        self.assertEqual(status, 0, said)
        for function in ("cudaDeviceSynchronize", "cudaEventQuery", "cudaGraphLaunch",
                         "cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize",
                         "cudaStreamWaitEvent"):
            self.assertRegex(said, rf"(?m)^  +1 +[1-9]\d*  runtime {function}_v\d+, [^n]")
        record, = simulation.glob("train.*")
        lines = [line.split("\t") for line in record.read_text().splitlines()]
        queries = {line[5] for line in lines if "cudaEventQuery_v3020" in line}
        record.write_text("".join("\t".join(line) + "\n" for line in lines
                                  if line[0] != "sync" or line[5] not in queries))
        status, said = self.compare(GOLDEN / "h200.txt", simulation)
        self.assertEqual(status, 1)
        self.assertEqual(re.findall(r"(?m)^! +(\d) +(\d)  (.*)", said),
                         [("1", "0", "runtime cudaEventQuery_v3020, 1 x sync on no stream"),
                          ("0", "3", "runtime cudaEventQuery_v3020, nothing")])

    @staticmethod
    def took(row):
        return int(row["end_ns"]) - int(row["start_ns"])

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_bind_mounts(self):
        """Returns the program's own paths over which something is mounted."""
        rows, printed = self.job(
            "-c", "import torch\nx = torch.ones(4, device='cuda')\ntorch.cuda.synchronize()\n"
            "print([l.split()[-1] for l in open('/proc/self/maps') if 'libcudart' in l][0])",
            python=PYTHON, wrap=[str(HERE.parents[1] / "simgpu/deploy/bind"), PYTHON, str(OUT)])
        self.assertEqual(truth.counts(rows)["kernel"], 1)
        self.assertIn("nvidia/cu13/lib/libcudart.so.13", printed)

    def test_failures(self):
        out_of_memory = ("import torch\ntry:\n    torch.empty(1 << 30, device='cuda')\n"
                         "except torch.OutOfMemoryError as e:\n    print('256.00 MiB' in str(e))\n")
        _, printed = self.job("-c", out_of_memory, SIMGPU_MEM_MB="256")
        self.assertEqual(printed, "True\n")
        illegal = ("import torch\nx = torch.ones(4, device='cuda')\n"
                   "try:\n    for _ in range(100): x.add_(1)\n"
                   "except torch.AcceleratorError as e:\n    print(str(e).split('\\n')[0])\n")
        _, printed = self.job("-c", illegal, SIMGPU_FAIL="cudaLaunchKernel:50:719")
        self.assertEqual(printed, "CUDA error: unspecified launch failure\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
