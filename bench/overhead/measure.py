"""The training job, what is attached to it, and how long its steps take meanwhile."""
import contextlib
import gzip
import json
import os
import pty
import re
import signal
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFTRACE = os.environ["PROFTRACE"]
PROGRAMS = {
    "pytorch": "bench_job.py",
    "paddle": "bench_paddle.py",
    "mxnet": "bench_mxnet.py",
    "mindspore": "bench_mindspore.py",
}
ALL_PROCESSORS = sorted(os.sched_getaffinity(0))
TIMEOUT_S = 120
SETTLE_S = 1.5  # by then the heavy probes, which learning needed, are gone again


class Failed(Exception):
    """A measurement that did not measure what it should."""


def on_processors(chosen):
    """This process, and what it starts, runs on those alone."""
    if len(ALL_PROCESSORS) > 1:
        os.sched_setaffinity(0, chosen)


class Job:
    """A process of the framework's program in tests/workloads. It has one processor, what watches it has
    the others: how often the job's own threads wake each other across processors is not steady."""

    def __init__(self, python, framework, model, device):
        program = os.path.join(ROOT, "tests/workloads", PROGRAMS[framework])
        on_processors({ALL_PROCESSORS[0]})
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [python, program, model, *(["--device", device] if framework == "pytorch" else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            # Kineto keeps CUPTI after its first use unless told otherwise, and one tool can have it.
            env=dict(os.environ, TEARDOWN_CUPTI="1", OMP_NUM_THREADS="1"),
        )
        on_processors(set(ALL_PROCESSORS[1:]))
        self.device = device
        self.pid = self.answer()["pid"]

    def tell(self, command):
        try:
            self.process.stdin.write(f"{command}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed("the job ended") from None

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.errors.seek(0)
            said = self.errors.read().decode(errors="replace").strip().splitlines()
            raise Failed(f"the job ended with status {status}: {(said or ['no word'])[-1]}")
        return json.loads(line)

    def ask(self, command):
        self.tell(command)
        return self.answer()

    @contextlib.contextmanager
    def spinning(self):
        """It runs steps that nobody asks the time of."""
        self.tell("spin")
        try:
            yield
        finally:
            self.tell("stop")
            self.answer()

    def close(self):
        with contextlib.suppress(Failed):
            self.tell("quit")
        self.process.wait()


class Proftrace:
    """A proftrace that runs, and when it said what. Its progress goes to a terminal of its own."""

    def __init__(self, pid, output, options):
        ours, theirs = pty.openpty()
        self.begin_ns = time.time_ns()
        self.process = subprocess.Popen(
            [PROFTRACE, "-v", "-p", str(pid), "-o", output, "--no-trace", "--no-report", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        self.said = ""
        self.seen_ns = {}
        self.reader = threading.Thread(target=self.read, args=(ours,))
        self.reader.start()

    def read(self, terminal):
        while True:
            try:
                text = os.read(terminal, 4096)
            except OSError:
                break
            self.said += text.decode(errors="replace")
            for key in ("attached in", "waiting for the window", "detached in"):
                if key in self.said:
                    self.seen_ns.setdefault(key, time.time_ns())
        os.close(terminal)

    def wait_for(self, key):
        end = time.monotonic() + TIMEOUT_S
        while key not in self.seen_ns:
            if time.monotonic() > end or not self.reader.is_alive():
                raise Failed(f"proftrace did not get to {key!r}:\n{self.said}")
            time.sleep(0.02)

    def interrupt(self):
        """Popen's own would wait for one that has ended, and finish() not find it."""
        os.kill(self.process.pid, signal.SIGINT)

    def finish(self):
        """Exit status, and the CPU time it took in seconds."""
        timer = threading.Timer(TIMEOUT_S, self.process.kill)
        timer.start()
        _, status, usage = os.wait4(self.process.pid, 0)
        timer.cancel()
        self.end_ns = time.time_ns()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.reader.join()
        return self.process.returncode, usage.ru_utime + usage.ru_stime

    def milliseconds(self, key):
        """The figure in a line like `attached in 12.5 ms`."""
        found = re.search(rf"{key} ([0-9.]+) ms", self.said)
        if not found:
            raise Failed(f"proftrace did not say {key!r}:\n{self.said}")
        return float(found.group(1))


def proftrace_output(*args):
    done = subprocess.run([PROFTRACE, *args], capture_output=True, check=False)
    if done.returncode:
        raise Failed(f"proftrace {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout


def read_trace(recording, directory):
    """Time of day at the window's begin and end, and how many spans lie in it."""
    path = os.path.join(directory, "trace.json.gz")
    proftrace_output("export", "-q", "--format", "chrome", "-o", path, recording)
    with gzip.open(path) as file:
        trace = json.load(file)
    steps = [e for e in trace["traceEvents"] if e.get("name", "").startswith("ProfilerStep#")]
    base = trace["baseTimeNanoseconds"]
    begin = base + min(e["ts"] for e in steps) * 1000
    end = base + max(e["ts"] + e["dur"] for e in steps) * 1000
    return begin, end, sum(e.get("ph") == "X" for e in trace["traceEvents"]) - len(steps)


def check_recording(recording, steps, detail, kernels):
    """What the report says of a recording's cost; fails if the recording is not what it should be."""
    report = json.loads(proftrace_output("report", "--format", "json", recording))
    summary, cost = report["summary"]["rows"][0], report["cost"]["rows"][0]
    if summary["steps"] != steps or summary["detail"] != detail:
        raise Failed(f"{summary['steps']} steps at {summary['detail']}, not {steps} at {detail}")
    if cost["events_lost"] != 0:
        why = [note for note in report["cost"]["notes"] if note.startswith("lost: ")]
        raise Failed(f"{cost['events_lost']} events lost ({cost['lost_where']}) {'; '.join(why)}")
    if detail != "phase" and not report["operator"]["rows"]:
        raise Failed("no operator was recorded")
    if kernels and not report.get("kernel", {}).get("rows"):
        raise Failed("no kernel was recorded")
    return cost


def steps_within(times, begin, end):
    """The steps that lie wholly between two times of day."""
    keep = [
        i
        for i, (start, wall) in enumerate(zip(times["begin"], times["wall"]))
        if start >= begin and start + wall <= end
    ]
    return {key: [values[i] for i in keep] for key, values in times.items()}


def longest(times, begin, end):
    walls = steps_within(times, begin, end)["wall"]
    return max(walls) if walls else 0


def record(job, options, detail, steps):
    """Step times while proftrace records `steps` steps, and what else there is to know of it."""
    with tempfile.TemporaryDirectory() as directory:
        output = os.path.join(directory, "bench.ptrec")
        job.tell("spin")
        tool = Proftrace(job.pid, output, [*options, "--record", f"0:{steps}"])
        status, cpu_s = tool.finish()
        job.tell("stop")
        times = job.answer()
        if status:
            raise Failed(f"proftrace ended with {status}:\n{tool.said}")
        kernels = job.device == "cuda" and "--no-inject" not in options
        cost = check_recording(output, steps, detail, kernels)
        begin, end, spans = read_trace(output, directory)
        size = os.path.getsize(output)
    inside = steps_within(times, begin, end)
    if len(inside["wall"]) < steps * 0.8:
        raise Failed(f"only {len(inside['wall'])} of {steps} steps lie in the window")
    return inside, {
        "window_ms": (begin - tool.begin_ns) / 1e6,
        "first_event_ms": tool.milliseconds("first event"),
        "attach_ms": tool.milliseconds("attached in"),
        "detach_ms": tool.milliseconds("detached in"),
        "end_ms": (tool.end_ns - end) / 1e6,
        "longest_step_attaching_ms": longest(times, tool.begin_ns, begin) / 1e6,
        "longest_step_detaching_ms": longest(times, end, tool.end_ns) / 1e6,
        "loader_cpu_window_ms": cost["loader_cpu_ns"] / 1e6,
        "loader_cpu_total_ms": cpu_s * 1e3,
        "hits_per_step": cost["hits_per_step"],
        "own_estimate_us": cost["added_per_step_ns"] / 1e3,
        "spans_per_step": spans / steps,
        "file_bytes_per_span": size / spans if spans else None,
    }


def closed(job, steps):
    """Step times while proftrace is attached and waits for a step that is far away."""
    with tempfile.TemporaryDirectory() as directory:
        tool = Proftrace(job.pid, directory, ["--record", "1000000000:1000000001"])
        try:
            with job.spinning():
                tool.wait_for("waiting for the window")
                time.sleep(SETTLE_S)
            times = job.ask(f"run {steps}")
        finally:
            with job.spinning():
                tool.interrupt()
                tool.finish()
    return times, {}
