# SPDX-License-Identifier: BSD-2-Clause
"""The n-th allocation fails: proftrace must report an error, or write the same output."""
import re
import subprocess

from common import GOLDEN, Faulty
from lib.runner import test

TOLD = re.compile("memory|allocate|ENOMEM")


def check(faulty, kind, most, whole, *more):
    """`whole` says whether the output of a run that succeeded is complete."""
    wrong = []
    for n in faulty.places(kind, most):
        done, _, hit = faulty.run(f"{kind}:{n}", *more)
        if done.returncode == 0:
            if not whole(done):
                wrong.append((n, "another output", done.stderr[-200:]))
        elif not TOLD.search(done.stderr):
            wrong.append((n, f"status {done.returncode}", done.stderr[-200:]))
        elif not hit:
            wrong.append((n, "not hit", done.stderr[-200:]))
    assert not wrong, f"{len(wrong)} wrong: {wrong[:8]}"


def check_reader(case, most, *command):
    faulty = Faulty(case, *command)
    want = faulty.run("malloc:0")[0].stdout
    for kind in ("malloc", "memory"):
        check(faulty, kind, most, lambda done: done.stdout == want)


@test("no memory in a report: told, or the same tables")
def report(case):
    check_reader(case, 30, "report", GOLDEN / "pytorch.ptrec")


@test("no memory in a report as JSON, CSV")
def report_forms(case):
    for form in ("json", "csv"):
        check_reader(case, 12, "report", "-f", form, GOLDEN / "gpu.ptrec")


@test("no memory in exports: told, or the same file")
def exports(case):
    for form in ("chrome", "jsonl", "perfetto", "sqlite"):
        out = case.dir / "out"
        to_file = ("-o", out) if form == "sqlite" else ("-o", "-", "--gzip-level", "0")
        faulty = Faulty(case, "export", "-f", form, *to_file, GOLDEN / "simgpu.ptrec")
        want = faulty.run("malloc:0")[0].stdout
        size = out.stat().st_size if form == "sqlite" else 0

        def whole(done):
            return done.stdout == want and (form != "sqlite" or out.stat().st_size == size)
        check(faulty, "malloc", 10, whole)


@test("no memory in a recording: told, or a recording that opens", alone=True)
def recording(case):
    job = subprocess.Popen(["sleep", "infinity"])
    case.finally_(job.wait)
    case.finally_(job.kill)
    path = case.dir / "r.ptrec"
    faulty = Faulty(case, "-p", job.pid, "--duration", "50ms", "-o", path,
                    timeout_s=300)  # at some places the verifier works until it gives up

    def whole(done):
        return subprocess.run([faulty_report(), "report", path], capture_output=True, check=False).returncode == 0
    check(faulty, "malloc", 5, whole)
    assert job.poll() is None


def faulty_report():
    from lib.tool import PROFTRACE
    return PROFTRACE
