# SPDX-License-Identifier: BSD-2-Clause
"""Every analysis of HolisticTraceAnalysis that the traces' content allows."""
import collections
import logging
import pathlib
import re
import sys
import tempfile
import warnings

from common import Report, Warnings, events, traces

warnings.simplefilter("ignore")

# HTA logs its progress as warnings, and these two of any trace: Kineto names no rank either where
# nothing is distributed; the critical path tells of the first kernel of a stream; and times on the
# device have nanoseconds on purpose
CHATTER = re.compile(r"^(leaving |Parsed |Overall parsing |If the trace file does not have the rank|"
                     r"No edge was added - queue length is |Rounding down ns resolution (events |traces disabled))")


def filled(frame, what="row"):
    count = len(frame)
    assert count, f"no {what}"
    return f"{count} {what}s"


def not_negative(frame, columns):
    for column in columns:
        assert (frame[column] >= 0).all(), f"{column} is negative"
    return filled(frame)


class Hta:
    def __init__(self, directory):
        from hta.trace_analysis import TraceAnalysis

        self.files = traces(directory)
        self.events = {p.name: events(p) for p in self.files}
        self.every = [e for per_file in self.events.values() for e in per_file]
        # another directory: HTA takes every .json and .gz of one for a trace
        self.analysis = TraceAnalysis(trace_dir=str(directory), include_last_profiler_step=True)
        self.scratch = tempfile.mkdtemp()

    def has(self, category):
        return any(e.get("cat") == category for e in self.every)

    def loaded(self):
        trace = self.analysis.t
        assert len(trace.get_ranks()) == len(self.files), f"ranks {trace.get_ranks()}"
        want = sorted(sum(e["ph"] == "X" for e in f) for f in self.events.values())
        got = sorted(len(trace.get_trace(r)) for r in trace.get_ranks())
        assert want == got, f"{got} of {want} events"
        for rank in trace.get_ranks():
            frame = trace.get_trace(rank)
            cpu = frame[frame["stream"] == -1]
            assert (cpu["dur"] >= 0).all(), "a negative duration on the CPU"
        return f"{sum(got)} events of {len(got)} ranks"

    def steps(self):
        want = {e["name"] for e in self.every if e["name"].startswith("ProfilerStep#")}
        got = self.analysis.get_profiler_steps()
        assert len(got) == len(want), f"{len(got)} of {len(want)} steps"
        return f"{len(got)} steps"

    def call_graph(self):
        from hta.common.trace_call_graph import CallGraph

        graph = CallGraph(self.analysis.t)
        labels = graph.mapping["label"].tolist()
        assert "main" in labels, f"labels {labels}"
        return filled(graph.mapping, "stack")

    def linked(self):
        """Device work is linked to the call that launched it."""
        total = 0
        for rank in self.analysis.t.get_ranks():
            frame = self.analysis.t.get_trace(rank)
            device = frame[frame["stream"] > 0]
            assert (device["index_correlation"] > 0).all(), "device work without its launch"
            assert (device["iteration"] >= 0).all(), "device work outside every step"
            total += len(device)
        return f"{total} device events linked"

    def kernel_breakdown(self):
        kinds, kernels = self.analysis.get_gpu_kernel_breakdown(visualize=False)
        names = {e["name"] for e in self.every if e.get("cat") == "kernel"}
        missing = names - set(kernels["name"])
        assert not missing or len(names) > 10, f"missing {missing}"
        return filled(kernels, "kernel") + ", " + filled(kinds, "kind")

    def bandwidth(self):
        for frame in self.analysis.get_memory_bw_time_series().values():
            filled(frame)
        return filled(self.analysis.get_memory_bw_summary())

    def queue(self):
        for frame in self.analysis.get_queue_length_time_series().values():
            assert (frame["queue_length"] >= 0).all(), "a kernel before its launch"
        return filled(self.analysis.get_queue_length_summary())

    def launch_stats(self):
        for frame in self.analysis.get_cuda_kernel_launch_stats(visualize=False).values():
            not_negative(frame, ["cpu_duration", "gpu_duration", "launch_delay"])
        return filled(frame)

    def launching_operator(self):
        """Returns the backward node, or else the operator, that launches the most. None if none launches anything."""
        launched = collections.Counter()
        for events_of_one in self.events.values():
            kernels = collections.Counter(e["args"].get("External id") for e in events_of_one
                                          if e.get("cat") == "kernel")
            for e in events_of_one:
                if e.get("cat") == "cpu_op":
                    launched[e["name"]] += kernels[e["args"].get("External id")]
        found = max(launched, key=lambda n: ("evaluate_function" in n and launched[n] > 0,
                                             launched[n]), default=None)
        return found if found and launched[found] else None

    def sequences(self):
        frame = self.analysis.get_frequent_cuda_kernel_sequences(
            operator_name=self.launching_operator(), output_dir=self.scratch, min_pattern_len=1,
            visualize=False)
        return filled(frame, "pattern")

    def critical_path(self):
        rank = self.analysis.t.get_ranks()[0]
        graph, ok = self.analysis.critical_path_analysis(
            rank=rank, annotation="ProfilerStep", instance_id=1)
        assert ok, "no path"
        self.analysis.overlay_critical_path_analysis(rank, graph, output_dir=self.scratch)
        return f"{len(graph.critical_path_nodes)} nodes"

    def idle(self):
        frame, _ = self.analysis.get_idle_time_breakdown(visualize=False)
        return filled(frame)


def main():
    seen = Warnings()
    logging.getLogger().addHandler(seen)
    report = Report("hta")
    state = {}

    def load():
        state["hta"] = Hta(pathlib.Path(sys.argv[1]))
        return state["hta"].loaded()

    report.run("load", load)
    if "hta" not in state:
        return report.status()
    h = state["hta"]
    a = h.analysis
    gpu, comm = h.has("kernel"), any(e["name"].startswith("nccl") and e.get("cat") == "kernel"
                                     for e in h.every)
    steps = any(e["name"].startswith("ProfilerStep#") for e in h.every)
    rows = collections.OrderedDict([
        ("profiler steps", (steps, "no steps", h.steps)),
        ("call graph", (steps, "no steps", h.call_graph)),
        ("linked launches", (gpu, "no device events", h.linked)),
        ("temporal breakdown", (gpu, "no device events", lambda: not_negative(
            a.get_temporal_breakdown(visualize=False), ["idle_time(us)", "compute_time(us)"]))),
        ("kernel breakdown", (gpu, "no device events", h.kernel_breakdown)),
        ("idle time breakdown", (gpu, "no device events", h.idle)),
        ("comm comp overlap", (comm, "no collectives", lambda: filled(
            a.get_comm_comp_overlap(visualize=False)))),
        ("memory bandwidth", (h.has("gpu_memcpy"), "no copies", h.bandwidth)),
        ("queue length", (gpu, "no device events", h.queue)),
        ("launch statistics", (gpu, "no device events", h.launch_stats)),
        ("kernel sequences", (h.launching_operator(), "no operator launches", h.sequences)),
        ("critical path", (gpu and steps, "no device events", h.critical_path)),
        ("stragglers", (False, "HTA knows only ncclKernel names, NCCL 2.19 renamed them", None)),
    ])
    for what, (applies, why, function) in rows.items():
        if applies:
            report.run(what, function)
        else:
            report.skip(what, why)
    said = [m for m in dict.fromkeys(seen.messages) if not CHATTER.match(m.strip())]
    report.check("warnings", not said, "; ".join(said)[:300] or "none but progress")
    return report.status()


if __name__ == "__main__":
    sys.exit(main())
