# SPDX-License-Identifier: BSD-2-Clause
"""Two workers of a distributed key-value store, each on a device: kernels, the Distributed table, and the slow
worker."""
import json
import subprocess

from lib.device_truth import STEPS, Truth, length_inside, same
from lib.launched import Launched
from lib.runner import test
from lib.tool import PROFTRACE
from test_truth import PYTHON, settings


@test("two workers of dist_sync: kernels and Distributed are the truth's; no straggler is named, and it says why")
def ranks(case):
    job = Launched(case, "mx_launched.py", 2, python=PYTHON, DEVICE="gpu", SLOW_RANK="1",
                   **settings(case, 2))
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
        assert len(kernels) > 10 * len(STEPS), f"{len(kernels)} kernels"
        ours = {e["correlation"]: (e["name"], e["ts_ns"], e["dur_ns"]) for e in events
                if e["type"] == "device" and e["kind"] == "Kernel"}
        missing = [r for r in kernels if ours.get(r["correlation"]) != (r["name"], r["start_ns"], r["ns"])]
        assert not missing, f"{len(missing)} of {len(kernels)} kernels differ: {missing[:3]}"
        rows = {r["name"]: r["total_ns"] for r in tool.report(index=index)["distributed"]["rows"]}
        same(rows["Computation"], length_inside([r for r in truth.rows if r["kind"] == "kernel"], steps.values()),
             "Computation")
    tables = json.loads(subprocess.run([PROFTRACE, "report", "--format", "json", *tool.recordings()], check=True,
                                       capture_output=True, text=True).stdout)
    (row,) = tables["straggler"]["rows"]
    same(row["straggler"], None, "the slow rank")
    assert "only ask" in json.dumps(tables["straggler"]), tables["straggler"]
