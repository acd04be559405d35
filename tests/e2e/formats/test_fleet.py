# SPDX-License-Identifier: BSD-2-Clause
"""Reads a fleet's recordings with DuckDB. What was planted in 288 recordings must be found, and hostile recordings must
do no harm."""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import time

from common import GOLDEN, ROOT, golden, report, same
from lib.runner import test

sys.path.insert(0, str(ROOT / "bench/fleet"))
import simulate  # noqa: E402

PYTHON = subprocess.run([ROOT / "scripts/duckdb-python"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
MODULE = [PYTHON, "-B", "-m", "proftrace.fleet"]


def fleet(*args, fails=False):
    done = subprocess.run([*MODULE, *map(str, args)], text=True, capture_output=True, env=ENVIRONMENT)
    assert (done.returncode == 1) == fails, (args, done.returncode, done.stderr)
    return done


def load(case, *paths, database="fleet.duckdb", program=None, fails=False):
    done = fleet("load", *paths, "--database", case.dir / database, "--proftrace", program or os.environ["PROFTRACE"],
                 fails=fails)
    return done.stderr.splitlines()


def ask(case, sql, database="fleet.duckdb", form="csv"):
    """Returns a query's rows as CSV without the column names, or the printed text in another form."""
    path = case.dir / "question.sql"
    path.write_text(sql)
    text = fleet("query", path, "--database", case.dir / database, "--format", form).stdout
    return list(csv.reader(io.StringIO(text)))[1:] if form == "csv" else text


def counts(lines):
    """loaded, there, copies, not readable"""
    return [int(part.split()[0]) for part in lines[-1].removeprefix("fleet: ").split(";")[0].split(", ")]


@test("fleet: queries find what is planted in 288 recordings; a second load adds nothing; damaged ones are named")
def planted(case):
    done = subprocess.run([PYTHON, "-B", ROOT / "bench/fleet/main.py", "--hosts", "48", "--windows", "6", "--folder",
                           case.dir, "--check-rows", "48", "--no-times"], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def contents(case, database):
    """All rows of recordings, without the order in which they came."""
    found = {"recording": ask(case, "SELECT * EXCLUDE (recording_id) FROM recording ORDER BY ALL", database)}
    for table in ("phase", "operator", "kernel", "finding"):
        found[table] = ask(case, f"SELECT r.path, t.* EXCLUDE (recording_id) FROM {table} t LEFT JOIN recording r "
                                 "USING (recording_id) ORDER BY ALL", database)
    return found


@test("fleet: a load that is killed leaves whole recordings, and the next one completes it")
def killed(case):
    for wait_s in (0.3, 0.6, 0.9):
        loading = subprocess.Popen([*MODULE, "load", GOLDEN, "--database", case.dir / "killed.duckdb", "--proftrace",
                                    os.environ["PROFTRACE"]], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        for _ in range(300):
            if (case.dir / "killed.duckdb").exists():
                break
            time.sleep(0.1)
        time.sleep(wait_s)
        loading.kill()
        loading.wait()
    load(case, GOLDEN, database="killed.duckdb")
    cnt = len(list(GOLDEN.glob("*.ptrec")))
    same(counts(load(case, GOLDEN)), [cnt, 0, 0, 0], "at once")
    same(contents(case, "killed.duckdb"), contents(case, "fleet.duckdb"), "after it was killed")


STORED = (("operator", ("name", "calls", "cpu_total_ns"), "name, calls, cpu_total_ns FROM operator"),
          ("kernel", ("name", "calls", "gpu_total_ns"), "name, calls, gpu_total_ns FROM kernel"),
          ("model", ("name", "cpu_total_ns"), "name, total_ns FROM phase"))


@test("fleet: rows are those of the report; a file that changed replaces its rows; a copy is counted")
def replaces(case):
    path = case.dir / "recordings/host_1.ptrec"
    path.parent.mkdir()
    for name in ("ddp0", "simgpu"):
        shutil.copy(golden(name), path)
        same(counts(load(case, path.parent)), [1, 0, 0, 0], name)
        tables = report(name, "operator,kernel,model")
        for table, columns, stored in STORED:
            want = [[str(row[column])[:1000] for column in columns] for row in tables[table]["rows"]
                    if bool(row["depth"]) == (table == "model")]
            same(sorted(ask(case, f"SELECT {stored}")), sorted(want), f"{name}: {table}")
    shutil.copy(path, path.with_name("copy.ptrec"))
    same(counts(load(case, path.parent)), [0, 1, 1, 0], "a copy")


@test("fleet: texts of a hostile recording stay texts; links and pipes are not followed")
def hostile(case):
    text = "=cmd'); DROP TABLE recording; --\x1b[2J\u202e"
    folder = case.dir / "recordings"
    folder.mkdir()
    made = {"in": str(golden("ddp0")), "out": str(folder / "a.ptrec"),
            "meta": {"host": {"name": text, "kernel": text * 100}, "process": {"uid": "0", "start_time_ticks": 1.5},
                     "rank": {"rank": [1]}, "runtime": {"version": {"a": 1}}, "clock": {"realtime_ns": "x"}},
            "summary": {"cpu": {"process_ns": "much", "wall_ns": -1}, "windows": 7}}
    subprocess.run([simulate.build_vary(case.dir)], check=True, text=True, input=json.dumps(made))
    (folder / "link.ptrec").symlink_to(golden("simgpu"))
    os.mkfifo(folder / "pipe.ptrec")
    same(counts(load(case, folder)), [1, 0, 0, 0], "loaded")
    same(ask(case, "SELECT host, length(kernel_version), uid, rank, cores, begin_ns FROM recording"),
         [[f"'{text}", "1000", "", "", "", ""]], "texts")
    shown = ask(case, "SELECT host FROM recording", form="table")
    assert "\x1b" not in shown and "\u202e" not in shown and "DROP TABLE" in shown, shown
    lines = load(case, folder / "pipe.ptrec", "/dev/zero", fails=True)
    same(lines[:2], [f"fleet: {path}: not a regular file" for path in (folder / "pipe.ptrec", "/dev/zero")], "named")


@test("fleet: a reader that writes without end is stopped")
def endless(case):
    program = case.dir / "endless"
    for head, reason in (("echo '{}'", "proftrace ended by SIGXFSZ, for its limits of memory, time or output"),
                         ("tr '\\0' x </dev/zero", "its metadata are too long")):
        program.write_text(f"#!/bin/sh\n[ $1 = report ] && exec yes\n{head}\n")
        program.chmod(0o755)
        lines = load(case, golden("ddp0"), program=program, fails=True)
        same(lines[0], f"fleet: {golden('ddp0')}: {reason}", "why")
        same(ask(case, "SELECT reason FROM failed"), [[reason]], "table failed")


@test("fleet: the tables as Parquet have the same rows")
def parquet(case):
    load(case, golden("simgpu"), golden("ddp0"))
    code = "import duckdb; duckdb.connect('fleet.duckdb').execute(\"EXPORT DATABASE 'parquet' (FORMAT parquet)\")"
    subprocess.run([PYTHON, "-c", code], check=True, cwd=case.dir)
    same(ask(case, f"SELECT * FROM '{case.dir}/parquet/operator.parquet' ORDER BY ALL"),
         ask(case, "SELECT * FROM operator ORDER BY ALL"), "operators")
