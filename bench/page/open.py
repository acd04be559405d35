# SPDX-License-Identifier: BSD-2-Clause
"""open.py PAGE: how long after the begin of its navigation a page has been painted, five times."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "e2e"))

from lib.browser import Browser  # noqa: E402

with tempfile.TemporaryDirectory() as directory:
    browser = Browser(directory)
    try:
        times = []
        for _ in range(5):
            browser.open(sys.argv[1])
            browser.drawn()
            times.append(browser.js("return performance.getEntriesByName("
                                    "'first-contentful-paint')[0].startTime"))
    finally:
        browser.close()
print("  drawn after", ", ".join(f"{t:.0f}" for t in times), "ms")
