# SPDX-License-Identifier: BSD-2-Clause
"""Reads a report's tables as CSV with Python's own reader."""
import csv
import io
import json
import os
import re

from common import RECORDINGS, ROOT, golden, proftrace, report, same
from lib.runner import test

TABLES = "model,operator,kernel,manipulation,memory,steps,activity"


def read(*args):
    """Returns the rows of standard output, and the text of stderr."""
    done = proftrace("report", "--format", "csv", *args)
    return list(csv.reader(io.StringIO(done.stdout.decode(), newline=""))), done.stderr.decode()


def tables_of(rows):
    """Returns the tables of one stream, split as in doc/reference/formats.md: title -> rows as dictionaries."""
    found, begins = {}, True
    for row in rows:
        if not row:
            begins = True
        elif begins:
            assert row[0].startswith("# "), row
            title, head, begins = ",".join(row)[2:], None, False
        elif head is None:
            head = row
            found[title] = []
        elif not row[0].startswith("# "):
            same(len(row), len(head), f"fields of {row}")
            found[title].append(dict(zip(head, row)))
    return found


def plain(row):
    """Converts a row of JSON to its form in CSV."""
    return {k: "" if v is None else str(v).lower() if isinstance(v, bool) else
            f"{v:.9g}" if isinstance(v, float) else str(v)
            for k, v in row.items() if k != "why"}


def expect_same(got, want, what):
    same([{k: v for k, v in row.items() if v != ""} for row in got],
         [{k: v for k, v in plain(row).items() if v != ""} for row in want], what)


@test("report: CSV of one table is its head and its rows, the notes are on stderr")
def one_table(case):
    for name in RECORDINGS:
        for table in TABLES.split(",") + ["summary", "cost"]:
            (head, *rows), notes = read("--table", table, golden(name))
            want = report(name, table)[table]
            for row in rows:
                same(len(row), len(head), f"{name}: {table}: fields of {row}")
            expect_same([dict(zip(head, row)) for row in rows], want["rows"], f"{name}: {table}")
            for note in want["notes"]:
                assert f"proftrace: {want['title']}: {note}\n" in notes, (note, notes)


@test("report: CSV of one table says on stderr what it leaves out, and that events were lost")
def left_out(case):
    rows, notes = read("--table", "operator", "--row-limit", 1, golden("simgpu"))
    same(len(rows), 2, "rows")
    assert "Operator Summary: 28 more rows left out\n" in notes, notes
    assert "incomplete" not in notes, notes
    _, notes = read("--table", "operator", golden("cpu"))
    assert "the recording is incomplete: 2 events were lost (depth 2)" in notes, notes
    _, notes = read("--op", "aten::linear", golden("cpu"))
    assert "incomplete" in notes, notes


@test("report: CSV of several tables is told apart by empty lines and titles")
def several(case):
    for name in RECORDINGS:
        for args in ((), ("--table", TABLES)):
            rows, _ = read(*args, golden(name))
            text = proftrace("report", "--format", "json", *args, golden(name)).stdout
            want = {t["title"]: t["rows"] for t in json.loads(text).values() if isinstance(t, dict)}
            got = tables_of(rows)
            same(sorted(got), sorted(want), f"{name}: titles")
            for title, one in got.items():
                expect_same(one, want[title], f"{name}: {title}")


@test("report: CSV of several recordings names each before its tables")
def recordings(case):
    rows, _ = read("--table", "kernel", golden("simgpu"), golden("gpu"))
    heads = [i for i, row in enumerate(rows) if row and re.match("# rank [01]: ", row[0])]
    same([rows[i] for i in heads],
         [[f"# rank 0: {golden('simgpu')}"], [f"# rank 1: {golden('gpu')}"]], "heads")
    same(sorted(tables_of(rows[:heads[0] - 1])), ["Ranks", "Straggler", "What to Look at First"],
         "tables of the job")
    for name, begin, end in (("simgpu", heads[0], heads[1]), ("gpu", heads[1], len(rows))):
        same((rows[begin - 1], rows[begin + 1]), ([], []), "lines around a head")
        expect_same(tables_of(rows[begin + 2:end])["Kernel Summary"],
                    report(name, "kernel")["kernel"]["rows"], name)


@test("report: the example of doc/reference/formats.md reads CSV of several tables")
def example(case):
    code = re.search("```python\n(.*?)```", (ROOT / "doc" / "reference" / "formats.md").read_text(), re.S)[1]
    os.chdir(case.dir)
    for name in RECORDINGS:
        (case.dir / "report.csv").write_bytes(
            proftrace("report", "--format", "csv", golden(name)).stdout)
        names = {"csv": csv}
        exec(code, names)
        same(names["tables"], tables_of(read(golden(name))[0]), name)
