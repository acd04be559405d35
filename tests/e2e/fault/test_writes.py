# SPDX-License-Identifier: BSD-2-Clause
"""Short writes, full disks and interrupted calls at each place: proftrace must report an error or write the same file,
and must leave no incomplete file."""
import subprocess

from common import GOLDEN, Faulty
from lib.runner import test
from lib.tool import PROFTRACE

FORMS = {"chrome": "x.json", "sqlite": "x.sqlite", "perfetto": "x.pftrace", "csv": "x.csv.gz", "speedscope": "x.json"}


def export(case, form):
    directory = case.dir / form
    directory.mkdir()
    return Faulty(case, "export", "-f", form, "-o", directory / FORMS[form], GOLDEN / "simgpu.ptrec"), directory


@test("short and interrupted writes, no space, in exports: the whole file, or none and a reason")
def exports(case):
    for form in FORMS:
        faulty, directory = export(case, form)
        path = directory / FORMS[form]
        faulty.run("short:0")
        want = path.read_bytes()
        for kind, most in (("short", 4), ("intr", 6), ("full", 4)):
            for n in faulty.places(kind, most):
                path.unlink(missing_ok=True)
                done, _, hit = faulty.run(f"{kind}:{n}")
                left = [p.name for p in directory.iterdir()]
                if done.returncode == 0:
                    assert path.read_bytes() == want, (form, kind, n)
                    assert kind != "full" or not hit, (form, n, "no space, and said nothing")
                else:
                    assert kind == "full" and "no space" in done.stderr, (form, kind, n, done.stderr)
                    assert not left, (form, kind, n, left)


def target(case):
    job = subprocess.Popen(["sleep", "infinity"])
    case.finally_(job.wait)
    case.finally_(job.kill)
    return job


def check_recording(path):
    done = subprocess.run([PROFTRACE, "report", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@test("short and interrupted calls in a recording: it is whole; no space: told, and what is there opens")
def recording(case):
    job = target(case)
    path = case.dir / "r.ptrec"
    faulty = Faulty(case, "-p", job.pid, "--duration", "50ms", "--no-report", "-o", path)
    for kind, most in (("short", 2), ("intr", 3), ("full", 2)):
        for n in faulty.places(kind, most):
            path.unlink(missing_ok=True)
            done, _, hit = faulty.run(f"{kind}:{n}")
            if done.returncode == 0:
                assert kind != "full" or not hit, (n, done.stderr)
                said = check_recording(path)
                assert "cut off" not in said.stderr and "damaged" not in said.stderr, (kind, n, said.stderr)
            else:
                assert kind == "full" and "no space" in done.stderr.lower(), (kind, n, done.stderr)
    assert job.poll() is None


@test("tables to a full disk: told")
def full_standard_output(case):
    for words in (("report", GOLDEN / "pytorch.ptrec"), ("report", "-f", "json", GOLDEN / "pytorch.ptrec"),
                  ("report", "-f", "csv", GOLDEN / "pytorch.ptrec"), ("doctor",), ("--help",),
                  ("export", "-f", "csv", "-o", "-", GOLDEN / "cpu.ptrec"), ("cpu", "--duration", "10ms")):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROFTRACE, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 1 and "space" in done.stderr.lower(), (words, done.returncode, done.stderr)
