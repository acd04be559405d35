# SPDX-License-Identifier: BSD-2-Clause
"""One line per reader and analysis: ok, n/a with the reason, or FAIL."""
import gzip
import json
import logging
import pathlib
import traceback


class Report:
    def __init__(self, reader):
        self.reader, self.failed = reader, False

    def line(self, what, verdict, detail):
        print(f"{self.reader:10} {what:28} {verdict:4}  {detail}", flush=True)

    def check(self, what, ok, detail=""):
        self.failed |= not ok
        self.line(what, "ok" if ok else "FAIL", detail)

    def skip(self, what, why):
        self.line(what, "n/a", why)

    def run(self, what, function):
        """function returns a detail, or raises."""
        try:
            self.check(what, True, function())
        except Exception as error:
            self.check(what, False, f"{type(error).__name__}: {error}".replace("\n", " ")[:200])
            if logging.getLogger().isEnabledFor(logging.DEBUG):
                traceback.print_exc()

    def status(self):
        return 1 if self.failed else 0


def traces(directory):
    return sorted(p for p in pathlib.Path(directory).iterdir() if ".pt.trace.json" in p.name)


def read(path):
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as f:
        return f.read()


def events(path):
    return json.loads(read(path))["traceEvents"]


class Warnings(logging.Handler):
    """Collects what the readers log at warning level or above."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())
