# SPDX-License-Identifier: BSD-2-Clause
"""Reads the export with protobuf's own classes. They are made from the fields in Paddle's platform/profiler.proto."""
import collections
import functools
import json

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from common import RECORDINGS, chrome_spans, cut_off, export, proftrace, same
from lib.runner import test
from test_perfetto import no_unknown_fields

FIELDS = {
    "MemCopy": "1 bytes uint64",
    "Event": "1 name string, 2 start_ns uint64, 3 end_ns uint64, 5 device_id int64, "
             "6 sub_device_id int64, 7 memcopy MemCopy, 8 type uint32, 9 detail_info string",
    "MemEvent": "1 start_ns uint64, 2 end_ns uint64, 3 bytes uint64, 4 place uint32, "
                "5 thread_id uint64, 6 device_id uint32, 7 alloc_in string, 8 free_in string",
    "Profile": "1 events Event*, 2 start_ns uint64, 3 end_ns uint64, 4 mem_events MemEvent*",
}
CPU, GPU_KERNEL = 0, 1
CUDA_PLACE, CPU_PLACE, PINNED_PLACE = 0, 1, 2


@functools.cache
def profile_class():
    field_type = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="profiler.proto", syntax="proto2",
                                              package="paddle.platform.proto")
    for message, fields in FIELDS.items():
        made = file.message_type.add(name=message)
        for field in fields.split(", "):
            number, name, kind = field.split()
            to = made.field.add(name=name, number=int(number), label=3 if kind[-1] == "*" else 1)
            if kind[0].isupper():
                to.type, to.type_name = field_type.TYPE_MESSAGE, kind.rstrip("*")
            else:
                to.type = getattr(field_type, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName("paddle.platform.proto.Profile"))


def load(case, recording, name):
    profile = profile_class()()
    profile.ParseFromString(export(case, recording, "paddle-proto", name).read_bytes())
    no_unknown_fields(profile)
    for event in [*profile.events, *profile.mem_events]:
        assert profile.start_ns <= event.start_ns <= event.end_ns <= profile.end_ns, event
    return profile


def jsonl(case, name):
    lines = export(case, name, "jsonl", f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@test("paddle-proto: all spans of the Chrome trace, on Paddle's devices")
def spans(case):
    for name in RECORDINGS:
        profile = load(case, name, f"{name}.pb")
        found = collections.Counter()
        for e in profile.events:
            own = e.detail_info if e.type == GPU_KERNEL and e.detail_info else e.name
            found[own.replace("ProfileStep#", "ProfilerStep#")] += 1
        # only the rows have inferred phases
        found -= collections.Counter(r["name"] for r in jsonl(case, name)
                                     if r.get("type") == "span" and "category" not in r)
        want = collections.Counter(e["name"] for e in chrome_spans(case, name)
                                   if e["cat"] != "cuda_sync")
        assert found == want, (name, found - want, want - found)
    calls = [e for e in profile_events(case, "simgpu") if e.name.startswith("cuda")]
    assert calls and all((e.type, e.device_id) == (CPU, -1) for e in calls)


def profile_events(case, name):
    return load(case, name, f"{name}.events.pb").events


@test("paddle-proto: kernels and copies have the name of what launched them, copies their bytes")
def kernels(case):
    events = profile_events(case, "gpu")
    found = [(e.name, e.detail_info, e.device_id, e.sub_device_id, e.end_ns - e.start_ns)
             for e in events if e.type == GPU_KERNEL]
    same(found[:3], [("aten::addmm", "Memcpy HtoD (Pageable -> Device)", 0, 7, 8000),
                     ("aten::addmm", "ampere_sgemm_128x64_tn", 0, 7, 40000),
                     ("AddmmBackward0", "ampere_sgemm_64x64_nt", 0, 7, 55000)], "gpu")
    want = sorted(r["value"] for r in jsonl(case, "simgpu") if r.get("kind") == "Memcpy")
    same(sorted(e.memcopy.bytes for e in profile_events(case, "simgpu") if
                e.HasField("memcopy")), want, "bytes of copies")


@test("paddle-proto: allocations from begin to end, where and in what")
def memory(case):
    same([(e.bytes, e.place, e.thread_id, e.end_ns - e.start_ns, e.alloc_in, e.free_in)
          for e in load(case, "cpu", "cpu.pb").mem_events][:1],
         [(4096, CPU_PLACE, 4242, 200000, "aten::addmm", "backward")], "one of the host")
    profile = load(case, "simgpu", "simgpu.pb")
    rows = [r for r in jsonl(case, "simgpu") if r.get("type") == "memory"]
    taken = collections.Counter(r["value"] for r in rows
                                if r["value"] > 0 and r.get("memory_device") is not None and
                                "name" not in r)
    found = collections.Counter(e.bytes for e in profile.mem_events if e.place == CUDA_PLACE)
    same(found, taken, "allocations on the device")
    assert sum(not e.free_in for e in profile.mem_events) > 0, "some were never freed"


@test("paddle-proto: what the format has no place for is said")
def left_out(case):
    done = proftrace("export", "-f", "paddle-proto", "-o", case.dir / "x.pb",
                     cut_off(case, "simgpu", 0.7))
    assert b"the recording was cut off" in done.stderr, done.stderr
    assert b"the format has no place for" in done.stderr, done.stderr
