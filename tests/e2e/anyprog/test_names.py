# SPDX-License-Identifier: BSD-2-Clause
"""Names that differ only at the end each have a row, however long they are."""
import csv
import gzip
import io
import json
import pathlib
import subprocess

from lib.job import ROOT
from lib.runner import test
from test_server import rows

HERE = pathlib.Path(__file__).resolve().parent
LENGTHS = 79, 80, 126, 127, 128, 129, 255, 256, 257, 1024, 4095, 4096
DOMAIN = "application.with.a.domain.that.is.longer.than.forty.six.bytes"


def long_name(part, size, end):
    """The same name as names.c makes."""
    room = size - len(end.encode())
    whole = part * (room // len(part.encode()))
    return whole + "-" * (room - len(whole.encode())) + end


def wanted():
    names = {long_name("layer/", n, end): 4 for n in LENGTHS for end in "fs"}
    names |= {long_name("é", 201, end): 4 for end in "ab"}
    names |= {"x" * 130 + f"\\x{end}": 4 for end in ("fe", "ff")}
    names |= {long_name("domain.", 300, end) + "::work": 4 for end in "12"}
    names |= {f"{DOMAIN}{end}::short": 4 for end in "12"}
    names[long_name("block/", 5000, "a")[:4096] + "... (names that begin so)"] = 8
    return names | {"names::step": 4}


@test("names of proftrace.h are whole, up to 4 KiB; of longer ones the row and a note tell")
def names(case):
    program = case.dir / "names"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", f"-I{ROOT}", "-o", program, HERE / "names.c"], check=True)
    job = subprocess.Popen([program])
    case.finally_(job.kill)
    tool = case.tool("-p", job.pid, "--record", "2:6").done()
    tables = tool.report()
    ranges = rows(tables, "userdefined")
    assert {name: r["calls"] for name, r in ranges.items()} == wanted(), tool.out
    for size in LENGTHS:
        fast, slow = (ranges[long_name("layer/", size, end)] for end in "fs")
        assert slow["cpu_min_ns"] >= 2e6 > fast["cpu_min_ns"], (fast, slow)
    told = [n for n in tables["summary"]["notes"] + tables["cost"]["notes"] if "only the beginning is known" in n]
    assert told and "8 spans or marks" in told[0], tool.out
    counters = rows(tables, "counters")
    queues = [long_name("queue.", 150, end) for end in ("in", "out")]
    assert [counters[f"{DOMAIN}1::{q}"]["last"] for q in queues] == [5, 6], tool.out
    assert sum(r["kind"] == "mark" for r in counters.values()) == 2, tool.out
    # A table may cut names, but never two names to the same text.
    text = case.tool("report", "--table", "userdefined", tool.recordings()[0]).done().out
    shown = [line[:-1].split("  ")[0] for line in text.split("\n") if "layer/" in line]
    assert len(shown) == len(set(shown)) == 2 * len(LENGTHS), text
    check_exports(case, tool, set(ranges))


def check_exports(case, tool, names):
    """Whole, in all that programs read."""
    trace = json.loads(gzip.open(next(tool.dir.glob("*.json.gz"))).read())["traceEvents"]
    assert names <= {e["name"] for e in trace}, names
    text = case.tool("report", "--format", "csv", "--table", "userdefined", tool.recordings()[0]).done().out
    assert names <= {row[0] for row in csv.reader(io.StringIO(text)) if row}, text
    for form in "speedscope", "folded", "jsonl":
        out = case.dir / f"out.{form}"
        case.tool("export", "--format", form, "-o", out, tool.recordings()[0]).done()
        found = out.read_bytes()
        found = (gzip.decompress(found) if found[:2] == b"\x1f\x8b" else found).decode()
        for name in names:
            spelt = json.dumps(name, ensure_ascii=False)[1:-1] if form != "folded" else name
            assert spelt in found, (form, name)
