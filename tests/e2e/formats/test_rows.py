# SPDX-License-Identifier: BSD-2-Clause
"""csv, jsonl and sqlite must have the same rows. Python has a reader for each."""
import collections
import csv
import gzip
import io
import json
import sqlite3

from common import (RECORDINGS, ROOT, chrome_spans, cut_off, export, golden, proftrace, report,
                    same)
from lib.runner import test


def csv_rows(path):
    with open(path, newline="") as file:
        return [{k: v for k, v in row.items() if v != ""} for row in csv.DictReader(file)]


def jsonl_rows(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    same((rows[0]["type"], rows[-1]["type"]), ("recording", "end"), "first and last line")
    same(rows[-1]["events"], len(rows) - 2, "number of events")
    return rows[0], rows[1:-1]


def database(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    same(db.execute("PRAGMA integrity_check").fetchone()[0], "ok", "integrity")
    same(db.execute("PRAGMA foreign_key_check").fetchall(), [], "foreign keys")
    same(db.execute("PRAGMA user_version").fetchone()[0], 1, "schema version")
    return db


JOINED = """SELECT e.*, n.category, coalesce(n.name, e.kind) AS name, t.pid, t.tid, t.device, t.stream,
    CASE t.kind WHEN 'thread' THEN t.name END AS thread
    FROM events e JOIN tracks t ON t.id = e.track_id LEFT JOIN names n ON n.id = e.name_id
    ORDER BY e.id"""


@test("csv, jsonl and sqlite have the same rows")
def rows(case):
    for name in RECORDINGS:
        _, lines = jsonl_rows(export(case, name, "jsonl", f"{name}.jsonl"))
        table = csv_rows(export(case, name, "csv", f"{name}.csv"))
        plain = [{k: str(v) for k, v in row.items()} for row in lines]
        same(table, plain, f"{name}: csv")
        db = database(export(case, name, "sqlite", f"{name}.sqlite"))
        found = [{k: v for k, v in dict(row).items() if v is not None and
                  k not in ("name_id", "track_id")} for row in db.execute(JOINED)]
        for row in found:
            if "occupancy" in row:
                row["occupancy"] = float(f"{row['occupancy']:.6g}")
        same(found, lines, f"{name}: sqlite")


@test("jsonl and sqlite have the recording's metadata and summary")
def facts(case):
    for name in RECORDINGS:
        head, _ = jsonl_rows(export(case, name, "jsonl", f"{name}.jsonl"))
        db = database(export(case, name, "sqlite", f"{name}.sqlite"))
        kept = dict(db.execute("SELECT key, value FROM facts WHERE key IN ('meta', 'summary')").fetchall())
        for key in ("meta", "summary"):
            same(head.get(key), json.loads(kept[key]) if kept.get(key) else None, f"{name}: {key}")


@test("rows: all spans of the Chrome trace, and the phases that it has not")
def spans(case):
    for name in RECORDINGS:
        _, lines = jsonl_rows(export(case, name, "jsonl", f"{name}.jsonl"))
        found = collections.Counter(r["name"] for r in lines if r["type"] in ("span", "device") and
                                    "category" in r)
        want = collections.Counter(e["name"] for e in chrome_spans(case, name)
                                   if not e["name"].startswith("ProfilerStep#"))
        assert found == want, (name, found - want, want - found)
        ids = {r["id"]: r for r in lines}
        for row in lines:
            around = ids[row["parent_id"]] if "parent_id" in row else None
            if around and row["type"] == "span":
                assert around["ts_ns"] <= row["ts_ns"], row
                assert row["ts_ns"] + row["dur_ns"] <= around["ts_ns"] + around["dur_ns"], row
                same(row["depth"], around["depth"] + 1, "depth")
            if "launch_id" in row:
                same(ids[row["launch_id"]]["correlation"], row["correlation"], "launch")


@test("rows: self times of a tree add up to it, and to the operator table")
def sums(case):
    for name in ("cpu", "gpu", "simgpu"):
        _, lines = jsonl_rows(export(case, name, "jsonl", f"{name}.jsonl"))
        children = collections.Counter()
        for row in lines:
            if row["type"] == "span" and "parent_id" in row:
                children[row["parent_id"]] += row["cpu_ns"]
        for row in lines:
            if row["type"] == "span":
                same(row["self_ns"], row["cpu_ns"] - children[row["id"]], f"{name}: {row}")
        want = {r["event_type"]: r["calls"] for r in report(name, "overview")["overview"]["rows"]}
        # the overview leaves worker processes out
        kinds = collections.Counter(r["kind"] for r in lines if "step" in r and "kind" in r and
                                    r.get("pid") == lines[0]["pid"])
        for kind in ("ProfileStep", "Dataloader", "Operator", "Optimization"):
            same(kinds[kind], want[kind], f"{name}: {kind}")


@test("sqlite: the example queries of doc/reference/formats.md run, and find what the tables say")
def queries(case):
    db = database(export(case, "simgpu", "sqlite", "simgpu.sqlite"))
    text = (ROOT / "doc" / "reference" / "formats.md").read_text()
    examples = [part.split("```")[0] for part in text.split("```sql\n")[1:]]
    assert len(examples) >= 5, examples
    for query in examples:
        assert db.execute(query).fetchall(), f"no rows: {query}"
    kernels = {r["name"]: (r["calls"], r["gpu_total_ns"])
               for r in report("simgpu", "kernel")["kernel"]["rows"]}
    found = {r[0]: (r[1], r[2]) for r in db.execute(
        "SELECT name, count(*), sum(dur_ns) FROM device_work WHERE kind = 'Kernel' GROUP BY name")}
    same(sorted(found.values()), sorted(kernels.values()), "kernels")
    plan = " ".join(r["detail"] for r in db.execute(
        "EXPLAIN QUERY PLAN SELECT * FROM events WHERE launch_id = 7"))
    assert "events_launch" in plan, plan


@test("rows: what was lost is in the file")
def loss(case):
    head, _ = jsonl_rows(export(case, "gpu", "jsonl", "gpu.jsonl"))
    same((head["incomplete"], head["lost_events"]), ("incomplete, 2 events were lost", 2), "jsonl")
    path = cut_off(case, "simgpu", 0.7)
    head, _ = jsonl_rows(export(case, path, "jsonl", "cut.jsonl"))
    same(head["truncated"], True, "jsonl")
    db = database(export(case, path, "sqlite", "cut.sqlite"))
    facts = dict(db.execute("SELECT key, value FROM facts"))
    same(facts["truncated"], 1, "sqlite")
    assert "cut off" in facts["incomplete"], facts


@test("rows: to standard output, compressed by name; a database must be a file")
def outputs(case):
    for form in ("csv", "jsonl"):
        plain = export(case, "cpu", form, f"plain.{form}").read_bytes()
        same(proftrace("export", "-f", form, "-o", "-", golden("cpu")).stdout, plain, form)
        packed = export(case, "cpu", form, f"packed.{form}.gz")
        same(gzip.decompress(packed.read_bytes()), plain, f"{form}: gzip")
        assert list(csv.reader(io.StringIO(plain.decode())))
    for output in ("-", "x.sqlite.gz", "/dev/null"):
        try:
            proftrace("export", "-f", "sqlite", "-o", output, golden("cpu"), cwd=case.dir)
        except AssertionError as error:
            assert "a database is written to a file" in str(error), error
        else:
            raise AssertionError(f"sqlite to {output} was not refused")
    same(sorted(p.name for p in case.dir.iterdir()),
         ["packed.csv.gz", "packed.jsonl.gz", "plain.csv", "plain.jsonl"], "files")


@test("sqlite: an old database is replaced whole")
def replaced(case):
    path = export(case, "gpu", "sqlite", "x.sqlite")
    export(case, "cpu", "sqlite", "x.sqlite")
    db = database(path)
    same(db.execute("SELECT value FROM facts WHERE key = 'title'").fetchone()[0],
         "process 4242 (python) on node7", "title")
    same(db.execute("SELECT count(*) FROM steps").fetchone()[0], 4, "steps")
