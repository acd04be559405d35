# SPDX-License-Identifier: BSD-2-Clause
"""Ranges of record_function whose names differ only at the end."""
import subprocess
import time

import sense
from lib.job import PYTHON
from lib.runner import test

RANGES = """
import time, torch
torch.set_num_threads(1)
P = "transformer.decoder.layers.checkpointed_block.self_attention.core_attention.flash_attention.forward_with_rotary_embedding_and_cache/"
assert len(P) > 127
x = torch.ones(8, 8, requires_grad=True)
opt = torch.optim.SGD([x], 1e-9)
for _ in torch.utils.data.DataLoader(list(range(100000)), 2):
    opt.zero_grad()
    with torch.profiler.record_function(P + "layer_00/fast"): y = (x * 2).sum()
    with torch.profiler.record_function(P + "layer_01/slow"): time.sleep(0.02)
    with torch.profiler.record_function(P + "训" * 1321 + "a"): pass
    with torch.profiler.record_function(P + "训" * 1321 + "b", "args"): pass
    y.backward(); opt.step()
"""


@test("record_function: each name has a row of its own, up to 4 KiB")
def ranges(case):
    program = case.dir / "ranges.py"
    program.write_text(RANGES)
    job = subprocess.Popen([PYTHON, program])
    case.finally_(job.kill)
    time.sleep(1)
    tables = case.tool("-p", job.pid, "--record", "2:5", "--no-trace").done(120).report()
    found = {n: r for n, r in sense.by_name(tables, "userdefined").items() if n.startswith("transformer.")}
    prefix = next(iter(found)).split("/")[0] + "/"
    assert {n[len(prefix):]: r["calls"] for n, r in found.items()} == {
        "layer_00/fast": 3, "layer_01/slow": 3, "训" * 1321 + "a": 3, "训" * 1321 + "b": 3}, found
    assert found[prefix + "layer_01/slow"]["cpu_min_ns"] >= 20e6, found
    assert found[prefix + "layer_00/fast"]["cpu_max_ns"] < 20e6, found
