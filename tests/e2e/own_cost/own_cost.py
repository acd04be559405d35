"""What a report tells of its own cost, against the run time that the job's own thread notes of its steps."""
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lib.held import Held, files, programs, wakeups  # noqa: E402
from quota import Quota  # noqa: E402

PROFTRACE = os.environ["PROFTRACE"]
JOB = pathlib.Path(__file__).resolve().parents[2] / "workloads/timed_steps.py"
START_S = 120
STEPS = 30
MIB = 1 << 20
RING_BUFFER = 27  # enum bpf_map_type
HELD = 24 * MIB  # anonymous memory and BPF maps, while short windows follow one another
WAITING = 10 * MIB  # of these
WAKEUPS = 2  # a second
VERIFIED = 140000  # instructions that the kernel verifies at the attach, a microsecond each
FILES = 24 * MIB  # its own, and the ring twice; without PyTorch's libraries
ALL_PROCESSORS = os.sched_getaffinity(0)
BUDGET = 0.10  # of the run time: some of the MLP's layers fit in, not all
COLD = 1.5  # functions last longer in the caches of others, and not the same in all steps
OVERSPENT = 2.5  # on a busy machine the steps of the window run as long as those by which it was chosen, or half as long


class Job:
    """A network that trains (tests/workloads/timed_steps.py), its first rank."""

    def __init__(self, name, ranks=1):
        self.log, self.out = pathlib.Path(f"{name}.0"), pathlib.Path(f"{name}.out")
        self.log.unlink(missing_ok=True)
        launcher = ["-m", "torch.distributed.run", f"--nproc_per_node={ranks}"] if ranks > 1 else []
        with open(self.out, "w") as out:
            self.popen = subprocess.Popen([os.environ["PYTHON"], *launcher, str(JOB), name, os.path.abspath(name)],
                                          stdout=out, stderr=out)

    def __enter__(self):
        give_up = time.monotonic() + START_S
        while len(self.ran()) < 2 * STEPS:
            assert self.popen.poll() is None, self.out.read_text()
            assert time.monotonic() < give_up, f"{len(self.ran())} steps in {START_S} s"
            time.sleep(0.2)
        self.pid = int(self.log.read_text().split("\n")[0])
        return self

    def __exit__(self, *_):
        self.popen.terminate()  # a launcher ends its ranks, which have their own sessions
        try:
            self.popen.wait(30)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()

    def ran(self):
        """Run time of each step, in ns."""
        if not self.log.exists():
            return []
        return [int(line.split()[2]) for line in self.log.read_text().split("\n")[1:] if line.count(" ") == 2]

    def report(self):
        """Returns the report of the latest window."""
        return json.loads(subprocess.run([PROFTRACE, "report", "own.ptrec", "--format", "json"], check=True,
                                         stdout=subprocess.PIPE).stdout)

    def record(self, *options):
        """The report's own cost, of a window of STEPS steps."""
        before = len(self.ran())
        subprocess.run([PROFTRACE, "-q", "-p", str(self.pid), "--record", f"2:{2 + STEPS}", "-o", "own.ptrec",
                        "--no-trace", *options], stdout=subprocess.DEVNULL, check=True, timeout=200)
        report = self.report()["cost"]
        return Cost(report["rows"][0], " ".join(report["notes"]), means(self.ran()[before:]))


def means(ran):
    """Returns the mean of each STEPS consecutive steps. One of these groups is the window."""
    return [statistics.mean(ran[i:i + STEPS]) for i in range(len(ran) - STEPS + 1)]


class Cost(dict):
    """A row of the report, with the checks that every row must pass."""

    def __init__(self, row, notes, ran_ns):
        super().__init__(row)
        assert 0.9 * min(ran_ns) < self["run_per_step_ns"] < 1.1 * max(ran_ns), (row, min(ran_ns), max(ran_ns))
        assert self["events_lost"] == 0, row
        assert 0 < self["estimated_low_ns"] <= self["added_per_step_ns"] <= self["estimated_high_ns"], row
        assert 0 < self["added_low_percent"] <= self["added_percent"] <= self["added_high_percent"], row
        told_ns = self["added_per_step_ns"]
        if "measured_per_step_ns" in self:  # it may have had no five steps in a second
            assert self["measured_low_ns"] <= self["measured_per_step_ns"] <= self["measured_high_ns"], row
            told_ns = self["weighted_per_step_ns"]
        assert told_ns >= self["estimated_low_ns"], row
        share = 100 * told_ns / self["run_per_step_ns"]
        assert abs(share - self["added_percent"]) < 0.02 * share + 0.01, (share, row)
        assert "of the time that the thread that makes the steps ran" in notes, notes

    def estimated_share(self):
        return self["added_per_step_ns"] / self["run_per_step_ns"]


@contextlib.contextmanager
def busy(cnt, processors=ALL_PROCESSORS):
    """Starts so many processes that use one of the processors."""
    spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"],
                                 preexec_fn=lambda: os.sched_setaffinity(0, processors)) for _ in range(cnt)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def check_budget(job, where):
    """Within a tenth of the run time a quarter to a half of the hits have room, of the time that passes all would:
    together they take a fifth of the run time or more."""
    unlimited = job.record("--no-prune")
    limited = job.record("--max-overhead", f"{100 * BUDGET}%")
    print(f"{where}: {unlimited['hits_per_step']} hits a step, {limited['hits_per_step']} within the budget, "
          f"{100 * limited.estimated_share():.1f} % of the run time", flush=True)
    assert limited["hits_per_step"] < 0.6 * unlimited["hits_per_step"], (unlimited, limited)
    assert limited.estimated_share() < OVERSPENT * BUDGET, limited


def fsdp2_beside_others():
    """No probe of it is single-stepped."""
    with busy(2), Job("fsdp2", ranks=2) as job:
        doctor = json.loads(subprocess.run([PROFTRACE, "doctor", "-p", str(job.pid), "--format", "json"],
                                           stdout=subprocess.PIPE, check=True).stdout)
        for name, level in doctor["framework"]["detail"].items():
            assert level["stepped_probes"] == [] and level["stepped"] == 0, (name, level["stepped_probes"])
        assert job.record()["hits_per_step"] > 20


def budget_beside_others():
    """Steps last several times as long as their thread runs. The budget is a share of the running time."""
    with busy(2 * os.cpu_count()), Job("mlp") as job:
        check_budget(job, "beside others")
        job.record("--detail", "inner")


def budget_under_a_quota():
    with Job("mlp") as job, Quota(0.25) as quota:
        if not quota.kind:
            print("under a quota: not tested, this machine lets no control group have one")
            return
        quota.take(job.pid)
        check_budget(job, f"under a quota of {quota.kind}")
        assert quota.throttled(), "the job was never held back"


def estimates_beside_others():
    """What is estimated is what the functions take, without what their thread waits for a processor: in all no more
    than the thread runs. On one processor with three others each step is interrupted."""
    with Job("mlp") as job, busy(3, {min(ALL_PROCESSORS)}):
        os.sched_setaffinity(job.pid, {min(ALL_PROCESSORS)})
        for _ in range(3):
            cost, rows = job.record(), job.report()["operator"]["rows"]
            ran_ns = STEPS * cost["run_per_step_ns"]
            estimated_ns = sum(row["cpu_total_ns"] for row in rows if row["estimated"])
            print(f"estimated {estimated_ns / 1e6:.1f} ms, of {ran_ns / 1e6:.1f} that the thread ran", flush=True)
            assert 0 < estimated_ns < COLD * ran_ns, rows


FAR = ("--record", f"{10 ** 8}:{10 ** 8 + 10}")


@contextlib.contextmanager
def session(job, state, *options):
    """Runs proftrace on the job, and keeps it in that state for a moment."""
    popen = subprocess.Popen([PROFTRACE, "-q", "-p", str(job.pid), "-o", "held.ptrec", "--no-trace", *options],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_state(job, popen, state)
        time.sleep(2)
        yield popen
    finally:
        popen.terminate()
        popen.wait(60)


def wait_state(job, popen, state):
    give_up = time.monotonic() + START_S
    while f"state: {state}" not in ctl(job.pid, "status"):
        assert popen.poll() is None and time.monotonic() < give_up, ctl(job.pid, "status")
        time.sleep(0.5)


def ctl(pid, verb):
    return subprocess.run([PROFTRACE, "ctl", str(pid), verb], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=30).stdout


def held_by(popen, most):
    held = Held(popen.pid)
    print(f"BPF maps {held.memlock / MIB:.1f} MiB, anonymous memory {held.anon / MIB:.1f}, mapped files "
          f"{held.file / MIB:.1f}", flush=True)
    assert held.memlock + held.anon < most, (held.anon, sorted(held.maps.values(), reverse=True))
    return held


def waiting_takes_little():
    """A waiting session takes little memory, also in the kernel, without an option."""
    with Job("mlp") as job, session(job, "waiting for the window", *FAR) as popen:
        held = held_by(popen, WAITING)
        assert held.file < FILES, files(popen.pid)
        verified = sum(programs(popen.pid).values())
        print(f"{verified} instructions verified", flush=True)
        assert verified < VERIFIED, verified
        woke = wakeups(popen.pid)
        print(f"{woke:.1f} wake-ups a second", flush=True)
        assert woke < WAKEUPS, woke


def short_windows_take_little():
    """One begins when it is asked for, and is the first; later ones are as this."""
    with Job("mlp") as job, session(job, "recording", "--schedule", "closed=1,record=20") as popen:
        held_by(popen, HELD)


def rings(popen):
    """Returns the bytes of each ring that the process holds."""
    return [size for _, kind, size in Held(popen.pid).maps.values() if kind == RING_BUFFER]


def the_ring_is_large_in_a_window_alone():
    """Large enough for a proftrace that is stopped for some seconds, in its first window too."""
    with Job("mlp") as job, session(job, "waiting for the window", *FAR, "--detail", "inner", "--no-prune") as popen:
        small = max(rings(popen))
        ctl(job.pid, "start")
        wait_state(job, popen, "recording")
        popen.send_signal(signal.SIGSTOP)  # at once, before proftrace has seen how fast records come in a window
        time.sleep(4)
        popen.send_signal(signal.SIGCONT)
        time.sleep(1)
        large = max(rings(popen))
        lost = ctl(job.pid, "status").split("events lost: ")[1].split()[0]
        print(f"a ring of {small >> 10} KiB, in a window {large >> 10}, {lost} lost", flush=True)
        assert large > small and lost == "0", (small, large, lost)
        ctl(job.pid, "pause")
        give_up = time.monotonic() + START_S
        while max(rings(popen)) > small:
            assert time.monotonic() < give_up, rings(popen)
            time.sleep(0.5)


for test in (waiting_takes_little, short_windows_take_little, the_ring_is_large_in_a_window_alone, fsdp2_beside_others,
             budget_beside_others, budget_under_a_quota, estimates_beside_others):
    if not sys.argv[1:] or any(word in test.__name__ for word in sys.argv[1:]):
        begin = time.monotonic()
        test()
        print(f"{test.__name__}: ok, {time.monotonic() - begin:.0f} s", flush=True)
