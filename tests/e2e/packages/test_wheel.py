# SPDX-License-Identifier: BSD-2-Clause
import base64
import collections
import csv
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import zipfile

from lib.runner import Skip, test
from lib.tool import PROFTRACE
from packages import GOLDEN, ROOT, bare_root, make, newest_glibc, run

RECORDINGS = ("pytorch.ptrec", "gpu.ptrec", "mxnet.ptrec", "paddle.ptrec")
USE = """
import json, sys
import proftrace
seen = {}
for path in sys.argv[1:]:
    recording = proftrace.open(path)
    seen[path] = {
        "tables": {name: [recording.table(name), recording.table(name).notes] for name in recording.tables()},
        "summary": recording.summary(),
        "first": recording.table("operator", row_limit=3, sorted_by="calls"),
        "threads": recording.table("operator", by_thread=True),
        "events": list(recording.events()),
    }
json.dump(seen, sys.stdout)
"""
FAILURES = """
import proftrace
path = __import__("sys").argv[1]
def says(kind, what):
    try:
        what()
    except kind as error:
        return str(error)
    raise AssertionError("no " + kind.__name__)
says(FileNotFoundError, lambda: proftrace.open(path + ".none"))
assert "unknown table 'nonsense'" in says(proftrace.Error, lambda: proftrace.open(path).table("nonsense"))
assert proftrace.open(path).table("kernel") == []
says(ValueError, lambda: proftrace.open(path).table("model,operator"))
assert "not a recording" in says(proftrace.Error, lambda: proftrace.open(__file__).table("model"))
for event in proftrace.open(path).events():
    break  # whoever stops in the middle leaves no process
"""


def wheel():
    return make("wheel", "proftrace-*.whl")


def environment(case, package):
    """A Python environment for this test, with only the wheel in it."""
    folder = case.dir / "venv"
    run("/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable, "-m", "venv", folder)
    python = folder / "bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", package)
    return python


def expected(path, *options):
    return json.loads(run(PROFTRACE, "report", "-q", "-f", "json", *options, path))


@test("pip installs the wheel without a network; its reader gives the rows of report and all events")
def installs(case):
    package = wheel()
    python = environment(case, package)
    assert run(python.parent / "proftrace", "--version") == run(PROFTRACE, "--version")
    paths = [str(shutil.copy(GOLDEN / name, case.dir)) for name in RECORDINGS]
    use = case.dir / "use.py"
    use.write_text(USE)
    seen = json.loads(run(python, use, *paths, cwd=case.dir))
    for path in paths:
        own = seen[path]
        told = {name: table for name, table in expected(path, "-t", "all").items() if isinstance(table, dict)}
        assert {name: [table["rows"], table["notes"]] for name, table in told.items()} == own["tables"], path
        assert own["summary"] == told["summary"]["rows"][0]
        limited = expected(path, "-t", "operator", "--row-limit", "3", "--sorted-by", "calls")
        assert own["first"] == limited["operator"]["rows"]
        assert own["threads"] == expected(path, "-t", "operator", "--by-thread")["operator"]["rows"]
        exported = run(PROFTRACE, "export", "-q", "-f", "jsonl", "-o", "-", path)
        assert own["events"] == [json.loads(line) for line in exported.splitlines()], path
    check_calls(seen[paths[0]])
    failures = case.dir / "failures.py"
    failures.write_text(FAILURES)
    run(python, failures, paths[0], cwd=case.dir)
    queries = {line.split()[0] for line in run(python, "-m", "proftrace.fleet", "queries").splitlines()}
    assert queries == {path.stem for path in (ROOT / "share/proftrace/fleet").glob("*.sql")} > {"cost_by_team"}, queries
    without = subprocess.run([python, "-m", "proftrace.fleet", "query", "own_cost"], capture_output=True, text=True)
    assert (without.returncode, without.stderr) == (1, "fleet: DuckDB is not installed; run: pip install duckdb\n")
    run(python, "-m", "pip", "uninstall", "--yes", "--quiet", "proftrace")
    left = list((case.dir / "venv").rglob("*proftrace*"))
    assert not left, left


def check_calls(own):
    """Rows of the table against a count of the events."""
    counted = collections.Counter(event["name"] for event in own["events"]
                                  if event["type"] == "span" and event["kind"] == "Operator")
    rows = {row["name"]: row["calls"] for row in own["tables"]["operator"][0] if not row["estimated"]}
    assert rows and all(counted[name] == calls for name, calls in rows.items()), (counted, rows)


@test("each file of the wheel has its hash, and the name of the wheel says which glibc a job needs")
def is_whole(case):
    package = wheel()
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        rows = {row[0]: row[1:] for row in csv.reader(archive.read(record).decode().splitlines())}
        assert sorted(rows) == sorted(names)
        for name, (digest, size) in rows.items():
            data = archive.read(name)
            if name != record:
                right = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                assert (digest, size) == (f"sha256={right}", str(len(data))), name
        archive.extractall(case.dir / "files")
    newest = newest_glibc(case.dir / "files", "libproftrace_cupti.so")
    assert f"-manylinux_{newest[0]}_{newest[1]}_x86_64.musllinux_1_1_x86_64.whl" in package.name, newest


def make_runnable(site):
    """What pip does: zipfile leaves out the modes."""
    for name in ("bin/proftrace", "lib/proftrace/ld.so"):
        (site / "proftrace/_installed" / name).chmod(0o755)


@test("the wheel's program needs no C library")
def needs_nothing(case):
    root = bare_root(case)
    with zipfile.ZipFile(wheel()) as archive:
        archive.extractall(root / "opt")
    program = "/opt/proftrace/_installed/bin/proftrace"
    make_runnable(root / "opt")
    shutil.copy(GOLDEN / "pytorch.ptrec", root / "tmp/pytorch.ptrec")
    there = run("chroot", root, program, "report", "-f", "json", "/tmp/pytorch.ptrec")
    assert there == run(PROFTRACE, "report", "-f", "json", GOLDEN / "pytorch.ptrec")


@test("a table of the wheel's reader becomes a pandas frame")
def makes_frames(case):
    found = next((python for python in pandas_pythons()), None)
    if not found:
        raise Skip("no Python here has pandas")
    with zipfile.ZipFile(wheel()) as archive:
        archive.extractall(case.dir / "site")
    make_runnable(case.dir / "site")
    code = ("import proftrace, sys; t = proftrace.open(sys.argv[1]).table('operator'); f = t.to_pandas(); "
            "assert len(f) == len(t) and f['calls'].sum() == sum(r['calls'] for r in t) > 0; "
            "assert list(f['name']) == [r['name'] for r in t]")
    run(found, "-c", code, GOLDEN / "pytorch.ptrec", env={"PYTHONPATH": str(case.dir / "site"), "PATH": "/usr/bin"})


def pandas_pythons():
    for python in pathlib.Path.home().glob(".cache/proftrace/venv-*/bin/python"):
        if list(python.parent.parent.glob("lib/python3*/site-packages/pandas/__init__.py")):
            if subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode == 0:
                yield python
