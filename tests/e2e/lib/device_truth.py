# SPDX-License-Identifier: BSD-2-Clause
"""Compares a recording's steps with the simulated GPU's own log."""
import bisect
import fcntl
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
STEPS = range(2, 6)  # that are recorded


def simulated(major, script):
    """Makes the simulated GPU of a CUDA major version for the Python that a script prints. Returns the GPU's folder and
    that Python."""
    python = subprocess.run([ROOT / "scripts" / script], stdout=subprocess.PIPE, text=True, check=True,
                            env=dict(os.environ, BASE_PYTHON="")).stdout.strip()
    out = pathlib.Path(os.environ["BUILD"]) / "simgpu" / str(major)
    out.parent.mkdir(exist_ok=True)
    with open(f"{out}.lock", "w") as lock:  # two suites that make it at once would disturb each other
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "--no-print-directory", "-s", "-C", ROOT, f"BUILD={os.environ['BUILD']}",
                        f"CUDA={major}", f"SIMGPU_PYTHON={python}", "simgpu"], check=True)
    return out, out / pathlib.Path(python).parents[1].name / "bin/python"


class Truth:
    """The device's work, and when the work was requested."""

    def __init__(self, path):
        with open(path, "rb") as log:  # read to the present end only, because the job goes on and writes
            text = log.read(os.fstat(log.fileno()).st_size).decode()
        names, *lines = (line.split("\t") for line in text[:text.rindex("\n")].split("\n"))
        rows = [dict(zip(names, line)) for line in lines]
        self.misuse = [r["name"] for r in rows if r["kind"] == "misuse"]
        self.rows = [r for r in rows if r["kind"] in ("kernel", "memcpy", "memset")]
        mangled = sorted({r["name"] for r in self.rows if r["kind"] == "kernel"})
        plain = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True)
        demangled = dict(zip(mangled, plain.stdout.split("\n")))
        for r in self.rows:
            r["name"] = demangled.get(r["name"], r["name"])
            for column in ("start_ns", "end_ns", "submit_ns", "bytes", "correlation", "dev", "stream"):
                r[column] = int(r[column])
            r["ns"] = r["end_ns"] - r["start_ns"]

    def of(self, steps):
        """Returns the work requested in these steps, each with its step. Steps are given as a name with begin and
        end."""
        order = sorted(steps, key=lambda step: steps[step][0])
        begins = [steps[step][0] for step in order]
        for r in self.rows:
            i = bisect.bisect_right(begins, r["submit_ns"]) - 1
            if i >= 0 and r["submit_ns"] < steps[order[i]][1]:
                yield dict(r, step=order[i])


def length_inside(kernels, steps):
    """Returns the time that the kernels cover inside the steps."""
    pieces = sorted((max(r["start_ns"], begin), min(r["end_ns"], end)) for r in kernels for begin, end in steps)
    covered, last = 0, 0
    for begin, end in pieces:
        covered += max(0, end - max(last, begin))
        last = max(last, end)
    return covered


def same(got, want, what):
    assert got == want, f"{what}: {got}, the truth has {want}"


def key(kind, name, device, stream, start_ns, ns):
    """The copy's name says which memory is involved. The log does not have that."""
    return kind, name if kind == "kernel" else None, device, stream, start_ns, ns


def of_event(e):
    return key(e["kind"].lower(), e["name"], e["device"], e["stream"], e["ts_ns"], e["dur_ns"])


def of_row(r):
    return key(r["kind"], r["name"], r["dev"], r["stream"], r["start_ns"], r["ns"])


def check_activities(events, truth):
    """The recording must have exactly the steps' activities, to the nanosecond and in their step, by correlation id."""
    ours = {e["correlation"]: (e["step"], of_event(e))
            for e in events if e["type"] == "device" and e["step"] in STEPS}
    theirs = {r["correlation"]: (r["step"], of_row(r)) for r in truth}
    assert len(theirs) > 100, f"{len(theirs)} activities"
    wrong = [(ours.get(c), theirs.get(c)) for c in ours.keys() | theirs.keys() if ours.get(c) != theirs.get(c)]
    assert not wrong, f"{len(wrong)} of {len(theirs)} differ: {wrong[:4]}"
