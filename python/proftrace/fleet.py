# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the tables of many recordings in a DuckDB database, and asks it.

    python -m proftrace.fleet load DIRECTORY... --database fleet.duckdb
    python -m proftrace.fleet query straggler_hosts --database fleet.duckdb

Reading is the work of `proftrace report` and `proftrace export`, in their sandbox and with limits. Recordings may be
hostile: one that cannot be read is named and left out.
"""
import argparse
import collections
import concurrent.futures
import csv
import hashlib
import json
import multiprocessing
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import proftrace

__all__ = ["SCHEMA_VERSION", "TABLES", "connect", "load", "query"]

SCHEMA_VERSION = 1
TABLES = {
    "recording": {
        "recording_id": "INTEGER", "path": "VARCHAR", "sha256": "VARCHAR", "proftrace_version": "VARCHAR",
        "host": "VARCHAR", "kernel_version": "VARCHAR", "job": "VARCHAR", "team": "VARCHAR", "uid": "BIGINT",
        "pid": "BIGINT", "process_start_ticks": "BIGINT", "rank": "BIGINT", "world_size": "BIGINT",
        "framework": "VARCHAR", "framework_version": "VARCHAR", "gpu": "VARCHAR", "cupti_version": "BIGINT",
        "detail": "VARCHAR", "begin_ns": "BIGINT", "end_ns": "BIGINT", "steps": "BIGINT", "step_mean_ns": "DOUBLE",
        "step_median_ns": "DOUBLE", "step_p95_ns": "DOUBLE", "step_max_ns": "BIGINT", "loader_ns": "DOUBLE",
        "collective_ns": "DOUBLE", "cores": "DOUBLE", "gpus": "INTEGER", "gpus_busy": "DOUBLE",
        "events_lost": "BIGINT", "incomplete": "VARCHAR", "added_per_step_ns": "BIGINT", "added_percent": "DOUBLE",
        "loader_cpu_ns": "BIGINT", "rows_left_out": "BIGINT"},
    "phase": {"recording_id": "INTEGER", "name": "VARCHAR", "total_ns": "BIGINT", "gpu_total_ns": "BIGINT"},
    "operator": {
        "recording_id": "INTEGER", "name": "VARCHAR", "estimated": "BOOLEAN", "calls": "BIGINT",
        "cpu_total_ns": "BIGINT", "cpu_max_ns": "BIGINT", "gpu_total_ns": "BIGINT"},
    "kernel": {
        "recording_id": "INTEGER", "name": "VARCHAR", "calls": "BIGINT", "gpu_total_ns": "BIGINT",
        "gpu_max_ns": "BIGINT", "gpu_min_ns": "BIGINT", "occupancy_percent": "DOUBLE"},
    "finding": {
        "recording_id": "INTEGER", "rule": "VARCHAR", "finding": "VARCHAR", "cost_ns": "BIGINT",
        "share_percent": "DOUBLE"},
    "failed": {"path": "VARCHAR", "reason": "VARCHAR"},
    "team": {"uid": "BIGINT", "team": "VARCHAR"},
    "facts": {"key": "VARCHAR", "value": "VARCHAR"},
}
REPORTED = "summary,findings,device,model,distributed,operator,kernel,steps,cost"
ROW_LIMIT = 5000  # rows of each table, for one recording
TEXT_LIMIT = 1000  # characters of one text
OUTPUT_BYTES = 64 << 20  # of a report
HEAD_BYTES = 16 << 20  # of the first line of an export
MEMORY_BYTES = 1 << 30  # of the process that reads a recording
READ_S = 60
DATABASE_MEMORY = "512MB"
# Names of the monitor's recordings.
MONITOR_NAME = re.compile(r"(?P<job>.+)_(?P<pid>\d+)_[0-9a-f]{8,16}(\.\d+)?\.ptrec", re.S)


class Unreadable(Exception):
    """Says why a recording is left out."""


# ---- one recording ----

def _limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (READ_S, READ_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES, OUTPUT_BYTES))


def _reason(status, said):
    said.seek(0)
    lines = said.read(4096).decode(errors="replace").strip().splitlines()
    if lines:
        return lines[-1]
    if status < 0:
        return f"proftrace ended by {signal.Signals(-status).name}, for its limits of memory, time or output"
    return f"proftrace ended with {status}"


def _report(binary, path):
    command = [binary, "report", "--quiet", "--format", "json", "--table", REPORTED, "--row-limit", str(ROW_LIMIT),
               path]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        try:
            status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=said, timeout=READ_S,
                                    preexec_fn=_limit).returncode
        except subprocess.TimeoutExpired:
            raise Unreadable(f"its report took more than {READ_S} s") from None
        if status:
            raise Unreadable(_reason(status, said))
        out.seek(0)
        return json.load(out)


def _head(binary, path):
    """The recording's metadata and summary: runs an export that ends after its first line."""
    command = [binary, "export", "--quiet", "-f", "jsonl", "-o", "-", path]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
                                   preexec_fn=_limit)
        timer = threading.Timer(READ_S, process.kill)
        timer.start()
        try:
            line = process.stdout.readline(HEAD_BYTES)
        finally:
            timer.cancel()
            process.stdout.close()
            process.kill()
            status = process.wait()
        if not line.endswith(b"\n"):
            raise Unreadable(_reason(status, said) if not line else "its metadata are too long")
        return json.loads(line)


def _get(value, *keys):
    """A member of a nested object, or None."""
    for key in keys:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and key < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def _fit(value, kind):
    """A value in the type of its column; None if it has another type."""
    if kind == "VARCHAR":
        if not isinstance(value, str) or not value:
            return None
        return value[:TEXT_LIMIT].encode(errors="replace").decode().replace("\0", "\ufffd")
    if kind == "BOOLEAN":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if kind == "DOUBLE":
        return float(value) if abs(value) < 1e300 else None
    bound = 1 << (31 if kind == "INTEGER" else 63)
    return value if isinstance(value, int) and -bound <= value < bound else None


def _rows(table, rows):
    columns = TABLES[table]
    return [tuple(_fit(row.get(name), kind) for name, kind in columns.items()) for row in rows]


def _percentile(sorted_values, share):
    """The nearest-rank percentile, which is a measured value."""
    return sorted_values[max(0, -(-len(sorted_values) * share // 100) - 1)]


def _collective_ns(rows):
    """Time in collectives that no kernel hides, on the device with most of it."""
    found = []
    for row in rows:
        if row.get("name") == "Communication" and row.get("total_ns") is not None:
            found.append(row["total_ns"])
        elif row.get("name") == "Overlap" and row.get("total_ns") is not None and found:
            found[-1] -= row["total_ns"]
    return max(found, default=None)


def _job_of(path, pid):
    """The job's name in the name of a monitor's recording."""
    match = MONITOR_NAME.fullmatch(os.path.basename(path))
    return match["job"] if match and int(match["pid"]) == pid else None


def _tables(path, sha256, labels, head, report):
    """Rows of each table, as dicts. recording_id is added later."""
    def rows_of(name):
        return [row for row in (_get(report, name, "rows") or []) if not row.get("depth")]

    meta, summary, cost = _get(head, "meta"), _get(head, "summary"), (rows_of("cost") or [{}])[0]
    window = _get(summary, "windows", 0)
    offset = _get(head, "wall_offset_ns")
    phases = _get(report, "model", "rows") or []
    steps = sorted(row["time_ns"] for row in rows_of("steps") if row.get("time_ns") is not None)
    whole = not _get(report, "steps", "left_out")
    total = next((row for row in phases if row["name"] == "ProfileStep"), {})
    step_cnt = total.get("calls") or 0

    def per_step(ns):
        return ns / step_cnt if step_cnt and ns is not None else None

    def wall(ns):
        return ns + offset if isinstance(ns, int) and isinstance(offset, int) else None

    devices = [row for row in rows_of("device") if row.get("device", "").startswith("GPU")]
    cpu_ns, wall_ns = _get(summary, "cpu", "process_ns"), _get(summary, "cpu", "wall_ns")
    measured = isinstance(cpu_ns, int) and isinstance(wall_ns, int) and wall_ns > 0
    pid = _get(meta, "process", "pid")
    recording = {
        "path": path, "sha256": sha256, "proftrace_version": _get(meta, "tool", "version"),
        "host": _get(meta, "host", "name"), "kernel_version": _get(meta, "host", "kernel"),
        "job": labels["job"] or _job_of(path, pid), "team": labels["team"], "uid": _get(meta, "process", "uid"),
        "pid": pid, "process_start_ticks": _get(meta, "process", "start_time_ticks"),
        "rank": _get(meta, "rank", "rank"), "world_size": _get(meta, "rank", "world_size"),
        "framework": _get(meta, "runtime", "title"), "framework_version": _get(meta, "runtime", "version"),
        "gpu": _get(summary, "device", "devices", 0, "name"), "cupti_version": _get(summary, "device", "cupti_version"),
        "detail": _get(meta, "detail"),
        "begin_ns": wall(_get(window, "begin_ns")), "end_ns": wall(_get(window, "end_ns")),
        "steps": step_cnt, "step_mean_ns": per_step(total.get("cpu_total_ns")),
        "step_median_ns": statistics.median(steps) if steps and whole else None,
        "step_p95_ns": _percentile(steps, 95) if steps and whole else None, "step_max_ns": total.get("cpu_max_ns"),
        "loader_ns": per_step(next((row["cpu_total_ns"] for row in phases if row["name"] == "Dataloader"), None)),
        "collective_ns": per_step(_collective_ns(_get(report, "distributed", "rows") or [])),
        "cores": cpu_ns / wall_ns if measured else None, "gpus": len(devices),
        "gpus_busy": sum(row.get("utilization_percent") or 0 for row in devices) / 100 if devices else None,
        "events_lost": cost.get("events_lost"), "incomplete": _get(head, "incomplete"),
        "added_per_step_ns": cost.get("added_per_step_ns"), "added_percent": cost.get("added_percent"),
        "loader_cpu_ns": cost.get("loader_cpu_ns"),
        "rows_left_out": sum(_get(report, name, "left_out") or 0 for name in ("operator", "kernel"))}
    return {
        "recording": [recording],
        "phase": [{"name": row["name"], "total_ns": row.get("cpu_total_ns"), "gpu_total_ns": row.get("gpu_total_ns")}
                  for row in phases if row.get("depth")],
        "operator": rows_of("operator"), "kernel": rows_of("kernel"), "finding": rows_of("findings")}


def _sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _read(binary, path, known, labels):
    """Returns (sha256, rows by table); (sha256, None) if the recording is known; or (None, reason). Runs in a
    worker."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Unreadable("not a regular file")
        sha256 = _sha256(path)
        if sha256 == known:
            return sha256, None
        tables = _tables(path, sha256, labels, _head(binary, path), _report(binary, path))
        return sha256, {name: _rows(name, rows) for name, rows in tables.items()}
    except (OSError, Unreadable) as error:
        return None, re.sub(f"^(proftrace: )?({re.escape(path)}: )?", "", str(error))
    except Exception as error:  # proftrace never writes such output, but a hostile recording may have found a way
        return None, f"unexpected content ({type(error).__name__}: {error})"


# ---- the database ----

def connect(path, read_only=False):
    """Connects to a database, and makes the schema if it is missing."""
    import duckdb

    db = duckdb.connect(os.fspath(path), read_only=read_only, config={"memory_limit": DATABASE_MEMORY})
    if not read_only and not db.execute("SELECT count(*) FROM duckdb_tables()").fetchone()[0]:
        db.execute("BEGIN")
        for table, columns in TABLES.items():
            db.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")
        db.execute("INSERT INTO facts VALUES ('schema_version', ?)", [str(SCHEMA_VERSION)])
        db.execute("COMMIT")
    try:
        version = db.execute("SELECT value FROM facts WHERE key = 'schema_version'").fetchone()
    except duckdb.CatalogException:
        version = None
    if version != (str(SCHEMA_VERSION),):
        raise ValueError(f"{path}: not a database of proftrace.fleet with schema version {SCHEMA_VERSION}")
    return db


def _insert(db, table, recording_id, rows):
    """Inserts all rows with one statement: each column is a list."""
    if not rows:
        return
    columns = list(TABLES[table].items())
    keyed = columns[0][0] == "recording_id"
    values = [[row[i] for row in rows] for i in range(len(columns))]
    if keyed:
        values[0] = [recording_id] * len(rows)
    db.execute(f"INSERT INTO {table} SELECT {', '.join(f'unnest(CAST(? AS {kind}[]))' for _, kind in columns)}", values)


def _store(db, recording_id, replaced, path, tables):
    """Stores one recording in a transaction. Replaces an earlier one of the same path."""
    db.execute("BEGIN")
    try:
        if replaced is not None:
            for table in tables:
                db.execute(f"DELETE FROM {table} WHERE recording_id = ?", [replaced])
        for table, rows in tables.items():
            _insert(db, table, recording_id, rows)
        db.execute("DELETE FROM failed WHERE path = ?", [path])
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _recordings(paths):
    """Lists regular files named .ptrec in directories, and files given by name. Follows no links in directories."""
    for path in paths:
        path = os.path.abspath(path)
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                full = os.path.join(folder, name)
                if name.endswith(".ptrec") and stat.S_ISREG(os.lstat(full).st_mode):
                    yield full


def _text(path):
    return _fit(path, "VARCHAR")


def load(db, paths, binary, job=None, team=None, workers=2, failed=lambda path, reason: None):
    """Loads recordings that are missing. Returns how many were loaded, there before, duplicates, and failed."""
    known = {path: (i, sha256) for i, path, sha256 in
             db.execute("SELECT recording_id, path, sha256 FROM recording").fetchall()}
    shas = {sha256 for _, sha256 in known.values()}
    recording_id = max((i for i, _ in known.values()), default=0)
    counts = collections.Counter(loaded=0, there=0, duplicate=0, failed=0)
    labels = {"job": job, "team": team}
    source, waiting = _recordings(paths), collections.deque()
    db.execute(f"SET threads = {workers}")
    with concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        while True:
            while len(waiting) < 4 * workers and (path := next(source, None)) is not None:
                known_sha = known.get(_text(path), (None, None))[1]
                waiting.append((path, pool.submit(_read, binary, path, known_sha, labels)))
            if not waiting:
                return counts
            path, future = waiting.popleft()
            sha256, tables = future.result()
            text = _text(path)
            if sha256 is None:
                counts["failed"] += 1
                db.execute("DELETE FROM failed WHERE path = ?", [text])
                db.execute("INSERT INTO failed VALUES (?, ?)", [text, _fit(tables, "VARCHAR")])
                failed(path, tables)
            elif tables is None:
                counts["there"] += 1
            elif sha256 in shas:
                counts["duplicate"] += 1
            else:
                recording_id += 1
                replaced, old_sha = known.get(text, (None, None))
                _store(db, recording_id, replaced, text, tables)
                shas.discard(old_sha)
                shas.add(sha256)
                known[text] = (recording_id, sha256)
                counts["loaded"] += 1


def _queries():
    installed = pathlib.Path(proftrace.BINARY).parents[1] / "share/proftrace/fleet"
    return installed if installed.is_dir() else pathlib.Path(__file__).resolve().parents[2] / "share/proftrace/fleet"


def query(db, name):
    """Runs a query of this name, or in this file. Returns (names of columns, rows)."""
    path = pathlib.Path(name) if name.endswith(".sql") else _queries() / f"{name}.sql"
    result = db.execute(path.read_text())
    return [column[0] for column in result.description], result.fetchall()


# ---- the command ----

def _printable(text):
    """Removes control sequences from a recording's text before it reaches a terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _shown(value):
    if value is None:
        return "-"
    return f"{value:,.3f}" if isinstance(value, float) else _printable(str(value))


def _print_table(columns, rows, out):
    cells = [columns, *[[_shown(value) for value in row] for row in rows]]
    numeric = [all(isinstance(row[i], (int, float, type(None))) for row in rows) for i in range(len(columns))]
    widths = [min(60, max(len(row[i]) for row in cells)) for i in range(len(columns))]
    for row in cells:
        line = [f"{cell if len(cell) <= width else cell[:width - 3] + '...':{'>' if right else '<'}{width}}"
                for cell, width, right in zip(row, widths, numeric)]
        print("  ".join(line).rstrip(), file=out)


def _print_csv(columns, rows, out):
    """A text that a spreadsheet would run gets an apostrophe in front, as in the CSV of `proftrace report`."""
    def safe(value):
        return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r\n") and value else value

    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([safe(value) for value in row] for row in rows)


def _parser():
    parser = argparse.ArgumentParser(prog="python -m proftrace.fleet", description="Keeps recordings of many hosts in "
                                     "a DuckDB database, and asks it.")
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("load", help="load recordings that are not there yet")
    add.add_argument("paths", nargs="+", metavar="PATH", help="a recording, or a directory of them")
    add.add_argument("--job", help="name of their job (default: the one in the name that proftrace monitor gives)")
    add.add_argument("--team", help="team that they belong to (default: by table team, else the user's number)")
    add.add_argument("--workers", type=int, default=2, help="recordings that are read at once (default 2)")
    add.add_argument("--proftrace", default=None, help="the program proftrace (default: the one of this package)")
    ask = commands.add_parser("query", help="run a query")
    ask.add_argument("name", help="its name, or a file .sql")
    ask.add_argument("--format", choices=("table", "csv"), default="table")
    commands.add_parser("queries", help="list the queries")
    for command in (add, ask):
        command.add_argument("--database", default="fleet.duckdb", help="default: fleet.duckdb")
    return parser


def _binary(given):
    binary = given or (proftrace.BINARY if os.path.exists(proftrace.BINARY) else shutil.which("proftrace"))
    if not binary or not os.access(binary, os.X_OK):
        raise ValueError(f"cannot run {binary or 'proftrace'}: no such program; name it with --proftrace")
    return os.path.abspath(binary)


def _load_command(args):
    started = time.monotonic()

    def failed(path, reason):
        print(f"fleet: {_printable(path)}: {_printable(reason)}", file=sys.stderr)

    with connect(args.database) as db:
        counts = load(db, args.paths, _binary(args.proftrace), args.job, args.team, max(1, args.workers), failed)
    print(f"fleet: {counts['loaded']} loaded, {counts['there']} were there, {counts['duplicate']} are copies of "
          f"others, {counts['failed']} not readable; {time.monotonic() - started:.1f} s", file=sys.stderr)
    return 1 if counts["failed"] else 0


def _query_command(args):
    if not os.path.exists(args.database):
        raise ValueError(f"no database {args.database}; `load` makes one")
    with connect(args.database, read_only=True) as db:
        columns, rows = query(db, args.name)
    (_print_csv if args.format == "csv" else _print_table)(columns, rows, sys.stdout)
    return 0


def main(argv=None):
    args = _parser().parse_args(argv)
    if args.command == "queries":
        for path in sorted(_queries().glob("*.sql")):
            print(f"{path.stem:16} {path.read_text().splitlines()[0][3:]}")
        return 0
    try:
        import duckdb
    except ImportError:
        print("fleet: DuckDB is not installed; run: pip install duckdb", file=sys.stderr)
        return 1
    try:
        return _load_command(args) if args.command == "load" else _query_command(args)
    except (OSError, ValueError, duckdb.Error) as error:
        print(f"fleet: {_printable(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
