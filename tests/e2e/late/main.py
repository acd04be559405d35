# SPDX-License-Identifier: BSD-2-Clause
"""All tests of this directory; see tests/e2e/lib/runner.py."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "monitor")]

from lib import runner  # noqa: E402

for module in sorted(HERE.glob("test_*.py")):
    __import__(module.stem)
sys.exit(runner.main(sys.argv[1:]))
