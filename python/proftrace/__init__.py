# SPDX-License-Identifier: BSD-2-Clause
"""Reads recordings of proftrace: tables as lists of dicts or for pandas, and events one by one.

    import proftrace
    recording = proftrace.open("HOST_PID.ptrec")
    recording.table("operator").to_pandas()

The program `proftrace` that comes with this package does the reading. It needs no root for that.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

__all__ = ["BINARY", "Error", "Recording", "Table", "open"]

BINARY = str(pathlib.Path(__file__).resolve().parent / "_installed" / "bin" / "proftrace")


class Error(Exception):
    """The message of proftrace when it failed."""


class Table(list):
    """Rows of a table, each a dict. Times are in nanoseconds. An unknown value is None or absent."""

    def __init__(self, name, text):
        super().__init__(text["rows"])
        self.name = name
        self.title = text["title"]
        self.notes = text["notes"]
        self.left_out = text["left_out"]  # number of rows left out by row_limit

    def to_pandas(self):
        """The rows as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(list(self))


class Recording:
    """A recording (.ptrec), made by proftrace on any machine."""

    def __init__(self, path):
        self.path = os.fspath(path)
        with _open_file(self.path, "rb"):
            pass

    def __repr__(self):
        return f"proftrace.open({self.path!r})"

    def table(self, name, **options):
        """The rows of one table. Empty if the recording has none. Options are those of `proftrace report`:
        row_limit=10, by_thread=True."""
        if name == "all" or "," in name:
            raise ValueError("one table at a time; tables() has the names")
        return Table(name, self._report(name, options)[name])

    def tables(self):
        """Names of the tables that have content."""
        return [name for name, value in self._report("all", {}).items() if isinstance(value, dict)]

    def summary(self):
        """The process, window and steps of the recording, as one dict."""
        return self._report("summary", {})["summary"]["rows"][0]

    def events(self):
        """Each event as a dict, in order of the export's ids. The first one has type "recording". Memory does not grow
        with the recording."""
        with tempfile.TemporaryFile() as said:
            command = [BINARY, "export", "--quiet", "-f", "jsonl", "-o", "-", self._operand()]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL)
            try:
                for line in process.stdout:
                    yield json.loads(line)
                if process.wait():
                    said.seek(0)
                    raise Error(said.read().decode(errors="replace").strip())
            finally:
                process.stdout.close()
                process.kill()
                process.wait()

    def _operand(self):
        """A path that begins with a dash must not become an option."""
        return self.path if not self.path.startswith("-") else os.path.join(".", self.path)

    def _report(self, table, options):
        command = [BINARY, "report", "--quiet", "--format", "json", "--table", table]
        for name, value in options.items():
            if value is True:
                command.append(f"--{name.replace('_', '-')}")
            elif value is not None and value is not False:
                command.append(f"--{name.replace('_', '-')}={value}")
        done = subprocess.run([*command, self._operand()], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Error(done.stderr.decode(errors="replace").strip())
        return json.loads(done.stdout)


_open_file = open


def open(path):  # named like gzip.open
    """Returns a Recording. A missing file raises the error of the built-in open()."""
    return Recording(path)


def main():
    """The command `proftrace`: replaces this Python by the program."""
    os.execv(BINARY, [BINARY, *sys.argv[1:]])
