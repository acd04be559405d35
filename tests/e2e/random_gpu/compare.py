# SPDX-License-Identifier: BSD-2-Clause
"""What proftrace reports against what was recomputed. Each check adds a line to `wrong` where they differ."""
import json
import os
import subprocess

from phases import PHASES, phases_of
from recompute import Truth, Window

PROFTRACE = os.environ["PROFTRACE"]
TABLES = "device,overview,model,operator,kernel,manipulation,distributed,userdefined,steps"
PERCENT = 1e-6  # tolerance of a share, which has nine digits


def told(*arguments):
    done = subprocess.run([PROFTRACE, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(arguments)}: {done.stderr}"
    return done.stdout


def report(path, *options):
    return json.loads(told("report", str(path), "--format", "json", "--raw-times", *options))


def events(path):
    return [json.loads(line) for line in told("export", "--format", "jsonl", "-o", "-", str(path)).splitlines()]


def window_of(path):
    """Returns the bounds and the steps. Nothing else is taken from proftrace."""
    steps = [e for e in events(path) if e["type"] == "step"]
    assert steps, "no steps were recorded"
    bounds = [(e["ts_ns"], e["ts_ns"] + e["dur_ns"]) for e in steps]
    return Window(bounds[0][0], bounds[-1][1], bounds, steps[0]["tid"])


def is_collective(w):
    return w.kind == "kernel" and "nccl" in w.name


def is_computation(w):
    return w.kind == "kernel" and "nccl" not in w.name


class Comparison:
    def __init__(self, path, truth, framework):
        self.framework = framework
        self.path, self.truth, self.wrong, self.blind = path, truth, [], 0
        self.tables = report(path, "--table", TABLES)

    def fail(self, text):
        self.wrong.append(text)

    def equal(self, what, got, low, high=None):
        """Compares with a figure, or with a range."""
        high = low if high is None else high
        if got is None or not low <= got <= high:
            self.fail(f"{what} is {got}, not {low if low == high else f'{low} to {high}'}")

    def share(self, what, got, part, whole):
        want = 100 * part / whole
        if got is None or abs(got - want) > PERCENT * (1 + want):
            self.fail(f"{what} is {got} %, not {want:.6f} %")

    def clock(self, what, row, is_wanted, time="gpu_time_ns", share="ratio_percent", calls=None):
        """Time and share of what ran in the steps. Where some of it was launched before CUPTI was asked to tell, they
        may be not known, or less."""
        blind = self.truth.is_blind(is_wanted)
        busy, ran = self.truth.busy(is_wanted), len(self.truth.ran(is_wanted))
        self.blind += blind
        if row[share] is None and blind:
            return
        if time:
            self.equal(f"{what}: time", row[time], 0 if blind else busy, busy)
        if calls:
            self.equal(f"{what}: calls", row[calls], 0 if blind else ran, ran)
        if not blind:
            self.share(f"{what}: share", row[share], busy, self.truth.total_ns)
        elif row[share] > 100 + PERCENT:  # the share is of the known part of the time
            self.fail(f"{what}: share is {row[share]} %")

    def rows(self, table):
        return self.tables[table]["rows"]

    def missing(self, what, got, want, optional=()):
        for key in sorted(want - got - set(optional), key=str):
            self.fail(f"{what}: no row of {key}")
        for key in sorted(got - want, key=str):
            self.fail(f"{what}: a row of {key}, which never was")

    # ---- tables ----

    def gpu_times(self, what, row, sure, unsure):
        """Compares calls and device times of the work."""
        least, more = sum(w.ns for w in sure), sum(w.ns for w in unsure)
        self.equal(f"{what}: calls", row["calls"], len(sure), len(sure) + len(unsure))
        self.equal(f"{what}: GPU total", row["gpu_total_ns"], least, least + more)
        if sure and not unsure:
            self.equal(f"{what}: GPU max", row["gpu_max_ns"], max(w.ns for w in sure))
            self.equal(f"{what}: GPU min", row["gpu_min_ns"], min(w.ns for w in sure))
            self.equal(f"{what}: GPU avg", row["gpu_avg_ns"], (least + len(sure) // 2) // len(sure))

    def kernel_rows(self, what, got, want):
        self.missing(what, got.keys(), want.keys(), {k for k, (sure, _) in want.items() if not sure})
        sure = sum(w.ns for s, _ in want.values() for w in s)
        unsure = sum(w.ns for _, u in want.values() for w in u)
        for key in got.keys() & want.keys():
            self.gpu_times(f"{what}: {key}", got[key], *want[key])
            if not unsure and not isinstance(key, tuple):
                self.share(f"{what}: {key}: ratio", got[key]["gpu_ratio_percent"],
                           sum(w.ns for w in want[key][0]), sure)

    def check_kernels(self):
        self.kernel_rows("Kernel", {r["name"]: r for r in self.rows("kernel")}, self.truth.kernels())
        by_stream = report(self.path, "--table", "kernel", "--by-device")["kernel"]["rows"]
        self.kernel_rows("Kernel by stream", {(r["section"], r["name"]): r for r in by_stream},
                         self.truth.kernels(by_stream=True))
        for row in self.rows("kernel"):
            sure, unsure = self.truth.kernels().get(row["name"], ((), ()))
            if sure and not unsure:
                self.queue_delay(row, sure)

    def queue_delay(self, row, sure):
        """The delay counts from the launching call's end. That end lies within the truth's call."""
        cnt = len(sure)
        self.equal(f"Kernel: {row['name']}: queue delay", row["queue_delay_avg_ns"],
                   sum(max(0, w.begin - w.call.end) for w in sure) // cnt,
                   sum(max(0, w.begin - w.call.begin) for w in sure) // cnt + 1)

    def check_manipulations(self):
        got, want = {}, self.truth.manipulations()
        for row in self.rows("manipulation"):
            name = row["name"].split(" ")[1] if row["name"].startswith("Memcpy") else "memset"
            sums = got.setdefault(name, {"calls": 0, "gpu_total_ns": 0, "size_bytes": 0, "cpu_total_ns": 0})
            for field in sums:
                sums[field] += row[field]
            self.check_rate(row)
        self.missing("Manipulation", got.keys(), want.keys(), {k for k, (sure, _) in want.items() if not sure})
        for name in got.keys() & want.keys():
            sure, unsure = want[name]
            fields = {"calls": lambda w: 1, "gpu_total_ns": lambda w: w.ns, "size_bytes": lambda w: w.bytes}
            for field, of in fields.items():
                least = sum(map(of, sure))
                self.equal(f"Manipulation: {name}: {field}", got[name][field], least, least + sum(map(of, unsure)))
            self.equal(f"Manipulation: {name}: CPU total", got[name]["cpu_total_ns"], 0,
                       sum(w.call.end - w.call.begin for w in sure + unsure if self.truth.is_alone(w)))

    def check_rate(self, row):
        want = row["size_bytes"] / row["gpu_total_ns"]
        if abs(row["gb_per_s"] - want) > 1e-6 * want:
            self.fail(f"Manipulation: {row['name']}: {row['gb_per_s']} GB/s, not {want}")

    def check_device(self):
        rows = {r["device"]: r for r in self.rows("device") if r["device"].startswith("GPU")}
        seen = {f"GPU{w.dev}" for w in self.truth.work}
        self.missing("Device", rows.keys(), {f"GPU{w.dev}" for w in self.truth.all_work},
                     {f"GPU{w.dev}" for w in self.truth.all_work} - seen)
        for name, row in rows.items():
            self.clock(f"Device: {name}", row, lambda w, name=name: w.kind == "kernel" and f"GPU{w.dev}" == name,
                       time=None, share="utilization_percent")

    def check_overview(self):
        rows = {r["event_type"]: r for r in self.rows("overview")}
        self.equal("Overview: steps", rows["ProfileStep"]["calls"], len(self.truth.window.steps))
        self.equal("Overview: time of the steps", rows["ProfileStep"]["cpu_time_ns"], self.truth.total_ns)
        for label, kind in ("Kernel", "kernel"), ("Memcpy", "memcpy"), ("Memset", "memset"):
            row = rows.get(label, {"calls": 0, "gpu_time_ns": 0, "ratio_percent": 0})
            self.clock(f"Overview: {label}", row, lambda w, kind=kind: w.kind == kind, calls="calls")

    def owned_rows(self, what, got, want):
        self.missing(what, got.keys(), want.keys(), {k for k, o in want.items() if not any(c.whole for c in o.calls)})
        for key in got.keys() & want.keys():
            self.owned_row(f"{what}: {key[1]}{' inside others' if key[0] else ''}", got[key], want[key])

    def owned_row(self, what, row, owned):
        calls = owned.calls
        whole = [c for c in calls if c.whole]
        self.equal(f"{what}: calls", row["calls"], len(whole), len(calls))
        self.equal(f"{what}: GPU total", row["gpu_total_ns"], sum(c.gpu for c in whole),
                   sum(c.gpu + c.unsure_gpu for c in calls))
        self.equal(f"{what}: CPU total", row["cpu_total_ns"], sum(c.note.ending - c.note.begun for c in whole),
                   sum(c.note.ended - c.note.before for c in calls))
        if not owned.sure:
            return
        self.equal(f"{what}: GPU max", row["gpu_max_ns"], max(c.gpu for c in calls))
        self.equal(f"{what}: GPU min", row["gpu_min_ns"], min(c.gpu for c in calls))
        for field, of in ("max", max), ("min", min):
            self.equal(f"{what}: CPU {field}", row[f"cpu_{field}_ns"], of(c.note.ending - c.note.begun for c in calls),
                       of(c.note.ended - c.note.before for c in calls))

    def check_operators(self):
        got = {("inside" in r["section"], r["name"]): r for r in self.rows("operator")}
        self.owned_rows("Operator", got, self.truth.owners(("operator",)))
        got = {(False, r["name"]): r for r in self.rows("userdefined")}
        self.owned_rows("UserDefined", got, self.truth.owners(("range", "step")))

    def check_noted_operators(self):
        """Compares operators that only the job itself calls."""
        want = self.truth.owners(("operator",))
        got = {(False, r["name"]): r for r in self.rows("operator") if "Thread" in r["section"]}
        self.owned_rows("Operator", {k: r for k, r in got.items() if k in want}, want)

    def check_model(self):
        rows = {r["name"]: r for r in self.rows("model")}
        phases, others = phases_of(self.truth)
        steps = self.truth.window.steps
        kernels = [w for w in self.truth.work if w.kind == "kernel"]
        if "ProfileStep" not in rows:
            self.fail("Model: no steps")
            return
        self.equal("Model: steps", rows["ProfileStep"]["calls"], len(steps))
        self.equal("Model: steps: GPU total", rows["ProfileStep"]["gpu_total_ns"], sum(w.ns for w in kernels))
        self.equal("Model: Others: GPU total", rows["Others"]["gpu_total_ns"], sum(w.ns for w in others))
        for kind in PHASES:
            self.phase(f"Model: {kind}", rows.get(kind), [p for p in phases if p.kind == kind])

    def phase(self, what, row, calls):
        if not row or not calls:
            if row or calls:
                self.fail(f"{what}: {'no row' if calls else 'a row of what never was'}")
            return
        self.equal(f"{what}: GPU total", row["gpu_total_ns"], sum(p.gpu for p in calls))
        self.equal(f"{what}: CPU total", row["cpu_total_ns"], sum(p.ns[0] for p in calls), sum(p.ns[1] for p in calls))
        if "Dataloader" in what:  # it is asked once more at an epoch's end
            return
        self.equal(f"{what}: calls", row["calls"], len(calls))
        self.equal(f"{what}: GPU max", row["gpu_max_ns"], max(p.gpu for p in calls))
        self.equal(f"{what}: GPU min", row["gpu_min_ns"], min(p.gpu for p in calls))

    def check_distributed(self):
        rows = {r["name"]: r for r in self.rows("distributed")}
        if not self.truth.ran(is_collective):
            if "Communication" in rows:
                self.fail("Distributed: rows without communication")
            return
        parts = {"Communication": is_collective, "Computation": is_computation}
        blind = self.truth.is_blind(lambda w: w.kind == "kernel")
        want = {*parts, "Overlap"}
        self.missing("Distributed", rows.keys() - {"ProfileStep"}, want, want if blind else ())
        for name in parts.keys() & rows.keys():
            if rows[name]["total_ns"] is not None or self.truth.ran(parts[name]):
                self.clock(f"Distributed: {name}", rows[name], parts[name], time="total_ns")
        if rows.get("Overlap", {}).get("total_ns") is not None and not blind:
            overlap = sum(map(self.truth.busy, parts.values())) - self.truth.busy(lambda w: w.kind == "kernel")
            self.equal("Distributed: Overlap", rows["Overlap"]["total_ns"], overlap)

    def check_steps(self):
        got = [r["time_ns"] for r in self.rows("steps")]
        want = [end - begin for begin, end in self.truth.window.steps]
        if got != want:
            self.fail(f"Steps: {got}, not {want}")

    def check_losses(self):
        self.equal("Cost: events lost", report(self.path, "--table", "cost")["cost"]["rows"][0]["events_lost"], 0)

    def check(self):
        self.check_losses()
        self.check_kernels()
        self.check_manipulations()
        self.check_device()
        self.check_overview()
        if self.framework:
            self.check_noted_operators()
            self.check_model()
        else:
            self.check_operators()
        self.check_distributed()
        self.check_steps()
        return self.wrong


def compare(recording, truth_path, notes_path, framework):
    """Returns the differences, a line each; how much work was compared; and how many figures cannot be known."""
    truth = Truth(truth_path, notes_path, window_of(recording))
    truth.check_steps()
    comparison = Comparison(recording, truth, framework)
    return comparison.check(), len(truth.work), comparison.blind
