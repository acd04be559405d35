# SPDX-License-Identifier: BSD-2-Clause
"""Two ranks over the simulated NCCL: compares each rank's Distributed table with the simulation's log, and names the
slow rank."""
from lib.device_truth import STEPS, Truth, length_inside, same
from lib.launched import Launched, straggler
from lib.runner import test
from test_truth import PYTHON, SIM


@test("two ranks over NCCL: kernels of collectives, the Distributed table, and who is slow")
def ranks(case):
    job = Launched(case, "paddle_ranks.py", 2, python=PYTHON, BACKEND="nccl", SIMGPU_DEVICES="2",
                   LD_LIBRARY_PATH=str(SIM / "lib"), SIMGPU_VERSION="11010", SIMGPU_TRUTH=str(case.dir / "truth"))
    tool = case.tool("--job", job.pid, "--record", f"{STEPS.start}:{STEPS.stop}", "--no-prune", "--no-trace").done(180)
    job.wait_steps(3)
    same(len(tool.recordings()), 2, "recordings")
    for index in range(2):
        events = tool.events(index)
        steps = {e["step"]: (e["ts_ns"], e["ts_ns"] + e["dur_ns"]) for e in events if e["type"] == "step"}
        pid = next(e["pid"] for e in events if e.get("pid"))
        truth = Truth(case.dir / f"truth.{pid}")
        assert not truth.misuse, truth.misuse
        kernels = [r for r in truth.of(steps) if r["kind"] == "kernel"]
        shared = [r for r in kernels if "nccl" in r["name"]]
        same(len(shared), 3 * len(STEPS), "kernels of collectives")  # DataParallel's and the job's own two
        ours = {e["correlation"]: (e["name"], e["ts_ns"], e["dur_ns"]) for e in events
                if e["type"] == "device" and e["kind"] == "Kernel" and e["step"] in STEPS}
        same(ours, {r["correlation"]: (r["name"], r["start_ns"], r["ns"]) for r in kernels}, "kernels")
        rows = {r["name"]: r["total_ns"] for r in tool.report(index=index)["distributed"]["rows"]}
        # Some end, or began, in another step.
        all_kernels = [r for r in truth.rows if r["kind"] == "kernel"]
        want = {name: length_inside([r for r in all_kernels if ("nccl" in r["name"]) == shares], steps.values())
                for name, shares in (("Communication", True), ("Computation", False))}
        same({name: rows[name] for name in want}, want, "Distributed")
    same(straggler(tool), 1, "the slow rank")
