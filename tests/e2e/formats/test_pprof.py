# SPDX-License-Identifier: BSD-2-Clause
"""Checks pprof output against pprof's schema (Debian's golang-github-google-pprof-dev), and in pprof itself if
Go is installed."""
import collections
import functools
import gzip
import shutil
import subprocess
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from common import TRAININGS, cut_off, export, report, same
from lib.runner import Skip, test
from test_perfetto import no_unknown_fields

SOURCE = "/usr/share/gocode/src/github.com/google/pprof/proto"


@functools.cache
def profile_class():
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", "-I", SOURCE, "-o", out.name, "profile.proto"], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName("perftools.profiles.Profile"))


Sample = collections.namedtuple("Sample", "stack cpu device calls labels")


def load(case, recording, name):
    profile = profile_class()()
    profile.ParseFromString(gzip.decompress(export(case, recording, "pprof", name).read_bytes()))
    no_unknown_fields(profile)
    text = profile.string_table
    same(text[0], "", "the first string")
    same([(text[t.type], text[t.unit]) for t in profile.sample_type],
         [("cpu", "nanoseconds"), ("device", "nanoseconds"), ("calls", "count")], "types")
    functions = {f.id: text[f.name] for f in profile.function}
    frames = {at.id: functions[at.line[0].function_id] for at in profile.location}
    assert 0 not in frames and 0 not in functions
    samples = [Sample([frames[i] for i in reversed(s.location_id)], *s.value,
                      {text[at.key]: text[at.str] for at in s.label}) for s in profile.sample]
    return profile, samples


@test("pprof: valid by its schema; sums are those of the tables")
def sums(case):
    for name in TRAININGS:
        _, samples = load(case, name, f"{name}.pb.gz")
        tables = report(name, "model,kernel,manipulation")
        rows = {r["name"]: r for r in tables["model"]["rows"]}
        cpu = collections.Counter()
        for s in samples:
            cpu[s.stack[0], s.stack[1]] += s.cpu
        for phase in ("Dataloader", "Optimization"):
            same(cpu["ProfileStep", phase], rows[phase]["cpu_total_ns"], f"{name}: {phase}")
        want = sum(r["gpu_total_ns"] for t in ("kernel", "manipulation")
                   for r in tables.get(t, {"rows": []})["rows"])
        same(sum(s.device for s in samples), want, f"{name}: device time")


@test("pprof: stacks from step and phase to the kernel, with rank and thread")
def stacks(case):
    _, samples = load(case, "gpu", "gpu.pb.gz")
    found = {tuple(s.stack): s for s in samples}
    kernel = found["ProfileStep", "Forward", "aten::linear", "aten::addmm", "cudaLaunchKernel",
                   "ampere_sgemm_128x64_tn"]
    same((kernel.cpu, kernel.device, kernel.calls), (0, 80000, 2), "a kernel")
    same(kernel.labels, {"rank": "1", "thread": "thread 4242 (python)"}, "labels")
    node = found["ProfileStep", "Backward", "AddmmBackward0"]
    same((node.cpu, node.calls), (80200, 2), "a backward node")
    same(node.labels["thread"], "thread 4250 (pt_autograd_0)", "its thread")


@test("pprof: comments say what was lost")
def comments(case):
    profile, _ = load(case, "gpu", "gpu.pb.gz")
    assert "incomplete, 2 events were lost" in [profile.string_table[c] for c in profile.comment]
    profile, _ = load(case, cut_off(case, "simgpu", 0.7), "cut.pb.gz")
    assert any("cut off" in profile.string_table[c] for c in profile.comment)


@test("pprof: go tool pprof reads it")
def tool(case):
    if not shutil.which("go"):
        raise Skip("Go is not installed")
    path = export(case, "gpu", "pprof", "gpu.pb.gz")
    done = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=device", path],
                          capture_output=True, check=True, text=True, cwd=case.dir)
    assert "110us" in done.stdout and "ampere_sgemm_64x64_nt" in done.stdout, done.stdout
    assert "Duration" in done.stdout and not done.stderr, done
