# SPDX-License-Identifier: BSD-2-Clause
"""Reads the export with Perfetto's own classes, in the way of its trace processor: packets are sorted by time, and by
file order where times are equal. An end closes the slice that its track opened last."""
import collections
import gzip

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from common import RECORDINGS, chrome_spans, export, report, same
from lib.runner import test

Slice = collections.namedtuple("Slice", "track name category begin end depth args flows")


def no_unknown_fields(message):
    assert not len(unknown_fields.UnknownFieldSet(message)), message
    for field, value in message.ListFields():
        if field.message_type:
            for part in value if field.is_repeated else [value]:
                no_unknown_fields(part)


class Reader:
    def __init__(self, data):
        trace = Trace()
        trace.ParseFromString(data)
        no_unknown_fields(trace)
        self.tracks, self.slices, self.counters = {}, [], collections.defaultdict(list)
        self.names, self.categories, self.keys = {}, {}, {}
        self.opened = collections.defaultdict(list)
        first = trace.packet[0]
        same(first.sequence_flags, 1, "the first packet's flags")
        same(first.clock_snapshot.primary_trace_clock, 3, "primary clock")
        same(first.trace_packet_defaults.timestamp_clock_id, 3, "clock of times")
        self.clocks = {c.clock_id: c.timestamp for c in first.clock_snapshot.clocks}
        for packet in trace.packet:
            self.take_state(packet)
        for packet in sorted((p for p in trace.packet if p.HasField("track_event")),
                             key=lambda p: p.timestamp):
            self.take(packet.timestamp, packet.track_event)
        assert not any(self.opened.values()), "slices are still open"

    def take_state(self, packet):
        if packet.HasField("track_descriptor"):
            d = packet.track_descriptor
            assert d.uuid not in self.tracks, f"{d.uuid} is described twice"
            assert not d.parent_uuid or d.parent_uuid in self.tracks, d
            self.tracks[d.uuid] = d
        for kind, to in (("event_names", self.names), ("event_categories", self.categories),
                         ("debug_annotation_names", self.keys)):
            for entry in getattr(packet.interned_data, kind):
                assert entry.iid not in to, f"{kind} {entry.iid} is interned twice"
                to[entry.iid] = entry.name
        event = packet.track_event  # the packets that this event refers to came before it
        assert not packet.HasField("track_event") or event.track_uuid in self.tracks, event
        assert not event.name_iid or event.name_iid in self.names, event
        assert all(a.name_iid in self.keys for a in event.debug_annotations), event

    def take(self, ts, event):
        stack = self.opened[event.track_uuid]
        if event.type == TrackEvent.TYPE_COUNTER:
            self.counters[event.track_uuid].append((ts, event.counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            stack.pop()(ts)
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            args = {self.keys[a.name_iid]: getattr(a, a.WhichOneof("value"))
                    for a in event.debug_annotations}
            category = self.categories[event.category_iids[0]] if event.category_iids else None
            name = event.name or self.names[event.name_iid]
            depth = len(stack)
            stack.append(lambda end: self.slices.append(Slice(
                event.track_uuid, name, category, ts, end, depth, args, list(event.flow_ids))))

    def track(self, name):
        found = [u for u, d in self.tracks.items() if d.name == name]
        same(len(found), 1, f"tracks {name}")
        return found[0]


def load(case, recording):
    return Reader(export(case, recording, "perfetto", f"{recording}.pftrace").read_bytes())


@test("perfetto: all fields are known, spans and nesting are those of the Chrome trace")
def spans(case):
    for name in RECORDINGS:
        trace = load(case, name)
        own = [u for u, d in trace.tracks.items() if d.name == "Steps and phases"]
        found = collections.Counter(s.name for s in trace.slices if s.track not in own)
        want = collections.Counter(e["name"].replace("ProfilerStep#", "ProfileStep#")
                                   for e in chrome_spans(case, name))
        assert found == want, (name, found - want, want - found)


@test("perfetto: an arrow from each launch to what it launched")
def flows(case):
    for name, devices in (("gpu", 6), ("simgpu", 120)):
        trace = load(case, name)
        work = [s for s in trace.slices if s.category in ("kernel", "memcpy", "memset")]
        same(len(work), devices, f"{name}: device work")
        calls = {f: s for s in trace.slices if s.category in ("runtime", "driver")
                 for f in s.flows}
        for s in work:
            same(len(s.flows), 1, f"{name}: arrows to {s.name}")
            launch = calls[s.flows[0]]
            same(launch.args["correlation"], s.args["correlation"], s.name)
            assert launch.begin <= s.begin, s
            same(s.args["queue delay (ns)"], max(0, s.begin - launch.end), "queue delay")


@test("perfetto: steps and phases with the inferred forward, as in the model table")
def phases(case):
    for name in ("cpu", "gpu", "simgpu"):
        trace = load(case, name)
        track = trace.track("Steps and phases")
        counts = collections.Counter(s.name for s in trace.slices
                                     if s.track == track and s.depth == 1)
        rows = {r["name"]: r for r in report(name, "model")["model"]["rows"]}
        for phase in ("Dataloader", "Forward", "Backward", "Optimization"):
            assert counts[phase] >= rows[phase]["calls"], (name, phase, counts)
        steps = [s for s in trace.slices if s.track == track and s.depth == 0]
        same(len(steps), rows["ProfileStep"]["calls"], f"{name}: steps")
        forwards = [s for s in trace.slices if s.track == track and s.name == "Forward"]
        assert all(s.args.get("end") == "inferred" for s in forwards), forwards


@test("perfetto: devices, streams, threads and what was lost have their tracks")
def tracks(case):
    trace = load(case, "gpu")
    process = next(d for d in trace.tracks.values() if d.HasField("process"))
    same(process.process.pid, 4242, "pid")
    same(list(process.process.cmdline), ["python", "train.py"], "command line")
    same(list(process.process.process_labels), ["incomplete, 2 events were lost"], "labels")
    threads = {d.thread.tid: d for d in trace.tracks.values() if d.HasField("thread")}
    same(threads[4250].thread.thread_name, "pt_autograd_0", "thread name")
    same(threads[4250].parent_uuid, process.uuid, "process of a thread")
    stream = trace.tracks[trace.track("GPU 0 stream 7")]
    same(trace.tracks[stream.parent_uuid].name[:5], "GPU 0", "device of a stream")


@test("perfetto: counters of memory end where the allocator's totals do")
def counters(case):
    trace = load(case, "simgpu")
    places = {trace.tracks[trace.tracks[u].parent_uuid].name[:5]: (u, v)
              for u, v in trace.counters.items() if trace.tracks[u].name == "memory allocated"}
    uuid, values = places["GPU 0"]
    same(trace.tracks[uuid].counter.unit, 3, "unit")
    same(max(v for _, v in values), 36654080, "peak, as in the memory table's note")
    assert all(v >= 0 for _, v in values)
    kernels = [s for s in trace.slices if s.category == "kernel"]
    assert all("grid" in s.args and "est. achieved occupancy %" in s.args for s in kernels)


@test("perfetto: compressed by name, the same inside")
def compressed(case):
    plain = export(case, "simgpu", "perfetto", "a.pftrace").read_bytes()
    packed = export(case, "simgpu", "perfetto", "a.pftrace.gz").read_bytes()
    same(gzip.decompress(packed), plain, "gzip")
