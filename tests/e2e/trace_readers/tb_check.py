# SPDX-License-Identifier: BSD-2-Clause
"""Runs torch_tb_profiler's own loader and checks the data behind each view."""
import logging
import pathlib
import sys
import warnings

from common import Report, Warnings, events, traces

warnings.simplefilter("ignore")


class Tb:
    def __init__(self, directory):
        from torch_tb_profiler import io
        from torch_tb_profiler.profiler.data import RunProfileData
        from torch_tb_profiler.profiler.loader import RunLoader
        from torch_tb_profiler.profiler.run_generator import RunGenerator

        self.files = traces(directory)
        self.every = {p: events(p) for p in self.files}
        # loaded in this process, so that its warnings are seen; the loader would fork one process per worker
        self.profiles = {}
        for path in self.files:
            worker = path.name.split(".pt.trace")[0]
            data = RunProfileData.parse(worker, None, str(path), None)
            self.profiles[path] = RunGenerator(worker, None, data).generate_run_profile()
        self.run = RunLoader("run", str(directory), io.Cache()).load()

    def workers(self):
        got = [w for w in self.run.workers if w != "All"]
        assert len(got) == len(self.files), f"workers {got} of {len(self.files)} files"
        return " ".join(got)

    def operators(self):
        total = 0
        for path, profile in self.profiles.items():
            want = {e["name"] for e in self.every[path] if e.get("cat") == "cpu_op"}
            got = {row["name"] for row in profile.operation_table_by_name["data"]}
            # the step thread's view leaves out events that its own roles take
            missing = {n for n in want - got if not n.startswith("enumerate(DataLoader)")}
            assert not missing, f"missing {sorted(missing)[:3]}"
            total += len(got)
        return f"{total} operators"

    def shapes(self):
        for path, profile in self.profiles.items():
            rows = profile.operation_table_by_name_input["data"]
            assert any(r.get("input_shape", "[]") not in ("[]", "", None) for r in rows), path.name
        return "operators by input shape"

    def device_time(self):
        for path, profile in self.profiles.items():
            rows = profile.operation_table_by_name["data"]
            with_time = [r for r in rows if r.get("device_total_duration", 0) > 0]
            assert with_time, f"{path.name}: no operator has device time"
        return f"{len(with_time)} operators with device time"

    def kernels(self):
        for path, profile in self.profiles.items():
            want = {e["name"] for e in self.every[path] if e.get("cat", "").lower() == "kernel"}
            got = {row[0] for row in profile.kernel_table["data"]["rows"]}
            assert want == got, f"missing {want - got}"
        return f"{len(got)} kernels"

    def steps(self):
        for path, profile in self.profiles.items():
            want = sum(e["name"].startswith("ProfilerStep#") for e in self.every[path])
            got = len(profile.overview["steps"]["rows"])
            assert got == want, f"{got} of {want} steps"
        return f"{got} steps"

    def memory(self):
        for path, profile in self.profiles.items():
            assert profile.memory_snapshot is not None, f"{path.name}: no memory view"
        return "memory view"

    def trace_view(self):
        from torch_tb_profiler import consts

        for path, profile in self.profiles.items():
            assert consts.TRACE_VIEW in profile.views, f"{path.name}: no trace view"
        return "trace view"

    def distributed(self):
        profile = self.run.get_profile("All", "default")
        assert profile is not None, "no distributed view"
        return "distributed view"


def main():
    seen = Warnings()
    logging.getLogger().addHandler(seen)
    for name in ("tensorboard", "torch_tb_profiler"):
        logging.getLogger(name).addHandler(seen)
    report = Report("tensorboard")
    state = {}

    def load():
        state["tb"] = Tb(pathlib.Path(sys.argv[1]))
        return state["tb"].workers()

    report.run("load", load)
    if "tb" not in state:
        return report.status()
    tb = state["tb"]
    every = [e for file in tb.every.values() for e in file]
    cats = {e.get("cat") for e in every}
    gpu = "kernel" in cats or "Kernel" in cats
    rows = [
        ("steps", any(e["name"].startswith("ProfilerStep#") for e in every), "no steps", tb.steps),
        ("operator view", "cpu_op" in cats, "no operators", tb.operators),
        ("input shapes", any("Input Dims" in e.get("args", {}) for e in every), "no shapes",
         tb.shapes),
        ("trace view", True, "", tb.trace_view),
        ("kernel view", gpu, "no device events", tb.kernels),
        ("operators' device time", "Runtime" in cats,
         "no device events" if not gpu else "0.4.3 knows only --dialect tb's Runtime",
         tb.device_time),
        ("memory view", any(e["name"] == "[memory]" for e in every), "no allocations", tb.memory),
        ("distributed view", gpu and len(tb.files) > 1, "one worker", tb.distributed),
    ]
    for what, applies, why, function in rows:
        if applies:
            report.run(what, function)
        else:
            report.skip(what, why)
    report.check("warnings", not seen.messages, "; ".join(dict.fromkeys(seen.messages))[:400] or "none")
    return report.status()


if __name__ == "__main__":
    sys.exit(main())
