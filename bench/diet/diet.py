"""What a waiting session of proftrace holds: its memory, its BPF maps, its wake-ups, and the CPU of its attach."""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from lib.held import Held, files, lines  # noqa: E402

PROFTRACE = os.environ["PROFTRACE"]
JOB = ROOT / "tests/workloads/mlp_train.py"
FAR = 10 ** 8  # a step that never comes
START_S = 120


def job(python, *options):
    log = pathlib.Path("diet.log")
    log.unlink(missing_ok=True)
    popen = subprocess.Popen([python, JOB, "--log", log, *options], stdout=subprocess.DEVNULL)
    give_up = time.monotonic() + START_S
    while len(lines(log)) < 100:
        assert popen.poll() is None and time.monotonic() < give_up, "the job makes no steps"
        time.sleep(0.1)
    return popen


def session(pid, *options):
    return subprocess.Popen([PROFTRACE, "-q", "-p", str(pid), "-o", "diet.ptrec", "--no-trace", *options],
                            stdout=subprocess.DEVNULL)


def mib(size):
    return f"{size / 2 ** 20:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=os.environ.get("PYTHON", sys.executable))
    parser.add_argument("--settle", type=float, default=12, help="seconds until the session waits")
    parser.add_argument("--wait", type=float, default=10, help="seconds over which wake-ups are counted")
    parser.add_argument("--files", action="store_true", help="the mapped files too")
    parser.add_argument("options", nargs="*", help="of proftrace, instead of a record far away")
    args = parser.parse_args()
    popen = job(args.python)
    watch = session(popen.pid, *(args.options or ["--record", f"{FAR}:{FAR + 10}"]))
    try:
        time.sleep(args.settle)
        before = Held(watch.pid)
        time.sleep(args.wait)
        now = Held(watch.pid)
        print(f"RssAnon {mib(now.anon)} MiB, RssFile {mib(now.file)}, RssShmem {mib(now.shmem)}, VmRSS {mib(now.rss)}; "
              f"{len(now.pids)} processes")
        print(f"BPF maps {mib(now.memlock)} MiB: " +
              ", ".join(f"{mib(m)} (type {t}, {n})" for m, t, n in sorted(now.maps.values(), reverse=True)[:14]))
        print(f"{now.wakeups_since(before):.1f} wake-ups a second, {before.cpu_s:.2f} s of CPU until it waits, "
              f"{1e3 * (now.cpu_s - before.cpu_s) / (now.at - before.at):.1f} ms a second after")
        for p in now.pids if args.files else []:
            print(p, *(f"{mib(size)} {name}" for name, size in files(p)[:10]), sep="\n  ")
    finally:
        watch.send_signal(signal.SIGINT)
        watch.wait(60)
        popen.terminate()
        popen.wait()


main()
