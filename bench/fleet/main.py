#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""main [OPTION...]: simulates a fleet's recordings, loads them, runs each query, compares
what it finds with what is planted, and prints times and memory."""
import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import simulate
from simulate import ROOT, same

sys.path.insert(0, str(ROOT / "python"))
from proftrace import fleet  # noqa: E402


def tree_bytes(pid):
    """Memory of a process and those below it: proportional, so that shared pages count once."""
    total = 0
    try:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) << 10
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                total += tree_bytes(child)
    except OSError:
        pass
    return total


def measured(command, interval_s):
    """(status, seconds, CPU seconds, most memory at a time, said) of a command and those that it started."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    before, started, most = os.times(), time.monotonic(), 0
    process = subprocess.Popen([str(word) for word in command], env=env, stderr=subprocess.PIPE, text=True)
    said = []
    reader = threading.Thread(target=lambda: said.append(process.stderr.read()))
    reader.start()
    while process.poll() is None:
        most = max(most, tree_bytes(process.pid))
        time.sleep(interval_s)
    reader.join()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return process.returncode, time.monotonic() - started, cpu, most, said[0]


def load(folder, database):
    return measured([sys.executable, "-B", "-m", "proftrace.fleet", "load", folder, "--database", database,
                     "--proftrace", os.environ["PROFTRACE"]], 0.2)


def name_teams(database):
    with fleet.connect(database) as db:
        db.executemany("INSERT INTO team VALUES (?, ?)", list(simulate.TEAMS.items()))


def query_times(database):
    """Milliseconds of each query: the first run and the median of five, and the rows that it finds."""
    times = {}
    for path in sorted((ROOT / "share/proftrace/fleet").glob("*.sql")):
        with fleet.connect(database, read_only=True) as db:
            taken = []
            for _ in range(5):
                started = time.monotonic()
                _, rows = fleet.query(db, path.stem)
                taken.append(1e3 * (time.monotonic() - started))
        times[path.stem] = (taken[0], statistics.median(taken), len(rows))
    return times


def check_load(folder, database, orders, unreadable):
    status, took, cpu, most, said = load(folder, database)
    same(status, 1, "status with recordings that cannot be read")
    for path in unreadable:
        assert f"fleet: {path}: " in said, (path, said)
    same(said.splitlines()[-1].split(";")[0], f"fleet: {len(orders) + 1} loaded, 0 were there, 0 are copies of others, "
         f"{len(unreadable)} not readable", "first load")
    _, again, _, _, said = load(folder, database)
    same(said.splitlines()[-1].split(";")[0], f"fleet: 0 loaded, {len(orders) + 1} were there, 0 are copies of others, "
         f"{len(unreadable)} not readable", "second load")
    cnt = len(orders) + len(unreadable) + 1
    print(f"load: {cnt} files in {took:.1f} s, {1e3 * took / cnt:.1f} ms each, {1e3 * cpu / cnt:.1f} ms of CPU; memory "
          f"{most / 2**20:.0f} MiB; once more {again:.1f} s", flush=True)


def run(folder, args):
    started = time.monotonic()
    planted, orders = simulate.make(folder / "recordings", args.hosts, args.windows)
    unreadable = simulate.damage(folder / "recordings", orders)
    size = sum(pathlib.Path(made["out"]).stat().st_size for made in orders)
    print(f"recordings: {len(orders)} of {args.hosts} hosts, {size / 2**20:.1f} MiB; made in "
          f"{time.monotonic() - started:.1f} s", flush=True)
    database = folder / "fleet.duckdb"
    check_load(folder / "recordings", database, orders, unreadable)
    name_teams(database)
    with fleet.connect(database, read_only=True) as db:
        rows = {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in fleet.TABLES}
        simulate.check(fleet, db, planted, orders)
        same({path for path, in db.execute("SELECT path FROM failed").fetchall()}, unreadable, "table failed")
        simulate.check_rows(db, random.Random(2).sample(orders, min(args.check_rows, len(orders))))
    print(f"database: {database.stat().st_size / 2**20:.1f} MiB; rows {rows}")
    if args.times:
        print_query_times(database)
    print("all queries found what is planted, with the numbers that plain Python finds")


def print_query_times(database):
    for name, (first, median, cnt) in query_times(database).items():
        _, took, _, most, _ = measured([sys.executable, "-B", "-c", "import sys; from proftrace import fleet; "
                                        "sys.stdout = open('/dev/null', 'w'); fleet.main(sys.argv[1:])", "query", name,
                                        "--database", database], 0.01)
        print(f"query {name}: first {first:.0f} ms, then {median:.0f} ms, {cnt} rows; as a command {took:.2f} s, "
              f"{most / 2**20:.0f} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--windows", type=int, default=10, help="recordings of each host")
    parser.add_argument("--check-rows", type=int, default=100,
                        help="recordings whose events are compared with their rows")
    parser.add_argument("--no-times", dest="times", action="store_false", help="do not measure queries")
    parser.add_argument("--folder", help="where the files go (default: a temporary directory)")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(dir=args.folder, prefix="fleet."))
    try:
        run(folder, args)
    finally:
        shutil.rmtree(folder)


main()
