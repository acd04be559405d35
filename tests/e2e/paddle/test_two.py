# SPDX-License-Identifier: BSD-2-Clause
"""A process with two frameworks: a recording shows the steps and operators of one, and a message says so."""
import os

import job as paddle
from lib.runner import test
from lib.tool import calls, row


@test("PyTorch is loaded beside PaddlePaddle: it is said and kept which is shown; --framework chooses")
def beside(case):
    packages = os.path.dirname(os.path.dirname(os.environ["TORCH_LIB"]))
    job = paddle.start(case, "paddle_train.py", "--torch", packages).wait_steps(10)
    tool = case.tool("-p", job.pid, "--duration", "500ms", "--no-trace").done()
    assert tool.said("capture.frameworks-several", job.pid, "PaddlePaddle", "PyTorch"), tool.err
    tables = tool.report("--table", "all").values()
    notes = [note for table in tables if isinstance(table, dict) for note in table.get("notes", ())]
    assert any("of PaddlePaddle, which the process has loaded beside PyTorch" in n for n in notes), notes

    tool = case.tool("-p", job.pid, "--framework", "paddle", "--record", "2:6", "--no-trace").done()
    tables = tool.report()
    assert row(tables, "summary")["steps"] == 4, tables["summary"]
    assert calls(tables, "conv2d dygraph") == 4, tables["operator"]
    assert tool.said("capture.frameworks-several", "PyTorch"), tool.err

    case.tool("-p", job.pid, "--framework", "mxnet", "--duration", "1s").fails(
        "capture.framework-not-loaded-but-others", job.pid, "PyTorch, PaddlePaddle")
    case.tool("-p", job.pid, "--framework", "tensorflow").fails("cli.framework-unknown", "tensorflow")
    job.stop()
