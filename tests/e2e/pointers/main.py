# SPDX-License-Identifier: BSD-2-Clause
"""Runs all tests of this directory; see tests/e2e/lib/runner.py. The jobs are from tests/e2e/late."""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "late")]

from lib import runner  # noqa: E402

for module in sorted(HERE.glob(os.environ["TESTS"])):
    __import__(module.stem)
sys.exit(runner.main(sys.argv[1:]))
