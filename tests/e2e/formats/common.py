# SPDX-License-Identifier: BSD-2-Clause
"""Exports of the committed recordings. They must agree with the tables and the trace, which other suites compare with
the framework's own profiler."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden"
TRAININGS = ["cpu", "gpu", "simgpu", "cut", "pytorch", "paddle", "mxnet"]
RECORDINGS = [*TRAININGS, "mindspore"]  # a data pipeline, which has its own threads
SPAN_CATEGORIES = {"cpu_op", "user_annotation", "cuda_runtime", "cuda_driver", "kernel",
                   "gpu_memcpy", "gpu_memset", "cuda_sync"}


def proftrace(*args, **kwargs):
    done = subprocess.run([os.environ["PROFTRACE"], *map(str, args)], capture_output=True, **kwargs)
    if done.returncode:
        raise AssertionError(f"{args} ended with {done.returncode}: {done.stderr.decode()}")
    return done


def golden(name):
    return GOLDEN / f"{name}.ptrec"


def export(case, recording, form, name, *args):
    """The path of a new file; recording: a golden one's name, or a path."""
    path = case.dir / name
    source = recording if isinstance(recording, pathlib.Path) else golden(recording)
    proftrace("export", "-q", "-f", form, "-o", path, *args, source)
    return path


def chrome_spans(case, recording):
    """Slices of the Chrome trace, without those that are not in the recording."""
    path = export(case, recording, "chrome", "reference.json")
    events = json.loads(path.read_text())["traceEvents"]
    return [e for e in events if e["ph"] == "X" and e["cat"] != "gpu_user_annotation" and
            not (e["name"].startswith("nccl:") and e["tid"] == 6000000)]


def report(recording, tables):
    text = proftrace("report", "--format", "json", "--table", tables, golden(recording)).stdout
    return json.loads(text)


def same(got, want, what):
    assert got == want, f"{what}: {got!r}, not {want!r}"


def cut_off(case, recording, share):
    """Cuts the recording off, as if its writer had been killed."""
    data = golden(recording).read_bytes()
    path = case.dir / "killed.ptrec"
    path.write_bytes(data[:int(len(data) * share)])
    return path
