# SPDX-License-Identifier: BSD-2-Clause
"""Targets that are no training job: they get CPU and scheduler tables, or a word why not."""
import mmap
import os
import pathlib
import signal
import subprocess
import time

from lib import process
from lib.job import PYTHON, torch_lib
from lib.runner import Skip, test
from lib.tool import report, row

# Built without a C library, so that no 32-bit one must be installed.
SPIN = "void _start(void) { for (volatile unsigned int i = 0;; i++); }\n"

# Moves its code to other pages at the same address, as tools do that put text on huge pages.
COPIED = r"""
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char etext, _start;
__attribute__((noinline)) int work(int x) { return x * 3 + getpid(); }

int main(void)
{
	char *text = (char *)((unsigned long)&_start & ~4095ul);
	size_t len = (size_t)(&etext - text + 4095) & ~4095ul;
	char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(copy, text, len);
	mprotect(copy, len, PROT_READ | PROT_EXEC);
	mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, text);
	for (;; usleep(1000))
		work(2);
}
"""

# PyTorch in a program without Python: the calls that AOTInductor's models make.
TENSORS = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *torch = dlopen(argv[argc - 1], RTLD_NOW | RTLD_GLOBAL);
	int (*make)(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, void **) =
		dlsym(torch, "aoti_torch_empty_strided");
	int (*drop)(void *) = dlsym(torch, "aoti_torch_delete_tensor_object");
	const int64_t size = 16, stride = 1;
	void *tensor;

	while (!make(1, &size, &stride, 6 /* float */, 0 /* CPU */, 0, &tensor) && !drop(tensor))
		usleep(5000);
	return 1;
}
"""

# A parent whose child trains. The child is a new program, so its libraries lie elsewhere than the parent's.
SPAWNS = """
import pathlib, sys, time, torch

def train(index, trains):
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    while True:
        net(torch.ones(4, 8)).sum().backward()
        optimizer.step()
        pathlib.Path(trains).touch()
        time.sleep(0.01)

if __name__ == "__main__":
    torch.multiprocessing.spawn(train, (sys.argv[1],), 1, daemon=True)
"""


def start(case, command, **kwargs):
    popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, **kwargs)
    case.finally_(popen.wait)
    case.finally_(popen.kill)
    return popen


def spinner(case, *flags):
    """A running program without libraries, built with these flags."""
    source, program = case.dir / "spin.c", case.dir / "spin"
    source.write_text(SPIN)
    subprocess.run(["gcc", "-nostdlib", "-static", *flags, "-o", program, source], check=True)
    return start(case, [program])


def watched(case, pid, *warning):
    """Watches it for two seconds: the tables must show its time on the CPUs, and a warning must say why there is no
    more."""
    tool = case.tool("-p", pid, "--duration", "2s", "--no-trace").done()
    assert tool.said(*(warning or ("capture.framework-missing", pid))), tool.err
    tables = tool.report("--table", "summary,device,sched")
    use = {r["device"]: r["utilization_percent"] for r in tables["device"]["rows"]}
    states = {r["name"]: r["total_ns"] for r in tables["sched"]["rows"] if r["depth"] == 1}
    assert abs(sum(states.values()) - 2e9) < 5e8, states
    return use["CPU(Process)"], states


@test("static program")
def static(case):
    percent, states = watched(case, spinner(case).pid)
    assert percent > 1 and states["run"] > 1e7, (percent, states)


@test("32-bit program")
def narrow(case):
    percent, states = watched(case, spinner(case, "-m32").pid, "capture.target-is-32-bit")
    assert percent > 1 and states["run"] > 1e7, (percent, states)


@test("process with no framework that sleeps")
def sleeper(case):
    percent, states = watched(case, start(case, ["sleep", "100"]).pid)
    assert percent < 1 and states["blocked"] > 1.5e9, (percent, states)


@test("process with no framework and --record: says what to do instead")
def no_steps(case):
    popen = start(case, ["sleep", "100"])
    tool = case.tool("-p", popen.pid, "--record", "0:2")
    tool.fails("capture.steps-cannot-be-chosen", popen.pid, timeout_s=20)
    assert not tool.recordings()


# Names it as a program does that includes torch/torch.h. The linker gives the program a copy, which all libraries use.
COPY = """
#include <unistd.h>
extern char undefined[] __asm__("_ZN3c1019UndefinedTensorImpl10_singletonE");

int main(void)
{
	volatile char first = undefined[0];

	for (;; first++)
		pause();
}
"""


@test("PyTorch without Python, whose undefined tensor is the program's: tensors are read")
def own_copy(case):
    source, program = case.dir / "copy.c", case.dir / "copy"
    source.write_text(COPY)
    lib = torch_lib()
    subprocess.run(["gcc", "-o", program, source, f"-L{lib}", f"-Wl,-rpath,{lib}", "-Wl,--no-as-needed",
                    "-Wl,--allow-shlib-undefined", "-ltorch_cpu", "-lc10"], check=True)
    popen = start(case, [program])
    process.wait_for(lambda: process.state(popen.pid) == "S" and
                     "libtorch_cpu" in pathlib.Path(f"/proc/{popen.pid}/maps").read_text(), 30, "the library")
    time.sleep(1)
    doctor = case.tool("doctor", "-p", popen.pid).done(30)
    assert "C++ only" in doctor.out and "undefined tensor" not in doctor.out, doctor.out


@test("PyTorch without Python, in C: no wait for what Python would load")
def without_python(case):
    library = torch_lib() / "libtorch_cpu.so"
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as image:
        if image.find(b"\0aoti_torch_empty_strided\0") < 0:
            raise Skip("this PyTorch has no C interface")
    source, program = case.dir / "tensors.c", case.dir / "tensors"
    source.write_text(TENSORS)
    subprocess.run(["gcc", "-o", program, source, "-ldl"], check=True)
    popen = start(case, [program, library])
    process.wait_for(lambda: "libtorch_cpu" in pathlib.Path(f"/proc/{popen.pid}/maps").read_text(), 30,
                     "the library")
    tool = case.tool("-p", popen.pid, "--record", "2:7", "--no-trace",
                     "--step-probe", "libtorch_cpu.so:aoti_torch_empty_strided").done(30)
    assert tool.said("capture.framework-*found", "C++ only") and not tool.said("capture.framework-awaited"), tool.err
    assert row(tool.report(), "summary")["steps"] == 5, tool.out
    missing = [line for line in tool.out.splitlines() if line.startswith("missing: libtorch_python")]
    assert len(missing) == 1 and "is not loaded; not shown" in missing[0], tool.out
    assert popen.poll() is None, "the program ended"


@test("a child that was spawned, not forked, trains: its backward nodes have their names")
def spawned(case):
    script, trains = case.dir / "spawns.py", case.dir / "trains"
    script.write_text(SPAWNS)
    popen = start(case, [PYTHON, script, trains], start_new_session=True)
    case.finally_(lambda: os.killpg(popen.pid, signal.SIGKILL))
    process.wait_for(trains.exists, 60, "a step")
    tool = case.tool("-p", popen.pid, "--record", "2:7", "--no-trace").done()
    names = {r["name"] for r in tool.report("--table", "operator")["operator"]["rows"]}
    assert any(name.endswith("SumBackward0") for name in names), names
    assert not any(name.startswith("node of type") for name in names), names


@test("framework that makes no steps, and --duration: by time, soon")
def idle(case):
    popen = start(case, [PYTHON, "-c", "import time, torch; print(1, flush=True); time.sleep(1000)"],
                  stdout=subprocess.PIPE)
    popen.stdout.readline()
    begin = time.monotonic()
    tool = case.tool("-p", popen.pid, "--duration", "1s", "--no-trace").done(50)
    assert 3 < time.monotonic() - begin < 20 and tool.said("capture.steps-missing-by-time"), tool.err
    assert row(tool.report(), "summary")["steps"] == 0, tool.out


@test("kernel thread")
def kernel_thread(case):
    pid = next(p.name for p in pathlib.Path("/proc").iterdir()
               if p.name.isdigit() and (p / "comm").read_text() == "kthreadd\n")
    _, states = watched(case, pid, "capture.target-is-kernel-thread")
    assert states.get("blocked", 0) > 1e9, states


@test("zombie, thread, and nobody")
def nothing(case):
    popen = start(case, ["true"])
    process.wait_for(lambda: process.state(popen.pid) == "Z", 10, "a zombie")
    case.tool("-p", popen.pid, "--duration", "1s").fails("target.process-is-zombie", popen.pid)
    case.tool("-p", 2 ** 22 + 1, "--duration", "1s").fails("target.process-missing", 2 ** 22 + 1)
    job, _ = case.training("--workers", 2, "--samples", 100000)
    thread = process.threads(job.pid)[-1]
    assert thread != job.pid
    case.tool("-p", thread, "--duration", "1s").fails("target.process-is-thread", thread, job.pid)


@test("process that ends while it is watched")
def ends(case):
    popen = start(case, ["sleep", "1"])
    tool = case.tool("-p", popen.pid, "--duration", "60s", "--no-trace").done(30)
    assert tool.said("cli.target-ended-in-window", "the target ended"), tool.err


@test("proftrace itself")
def itself(case):
    other = case.tool("cpu", "--duration", "30s")
    time.sleep(0.5)
    tool = case.tool("-p", other.pid, "--duration", "1s", "--no-trace").done()
    assert row(tool.report(), "summary")["process"].startswith(str(other.pid))
    assert os.path.exists(f"/proc/{other.pid}"), "it was ended"


MODEL = """
import torch
torch.set_num_threads(1)
model = torch.nn.Linear(64, 64)
print("ready", flush=True)
while True:
    model(torch.ones(8, 64)).sum().backward()
"""


@test("shell around a job: the process below it that has the framework is named")
def shell(case):
    script = '"$0" -c "$1" & echo $!; wait'
    around = start(case, ["bash", "-c", script, PYTHON, MODEL], stdout=subprocess.PIPE, text=True)
    job = int(around.stdout.readline())
    try:
        around.stdout.readline()
        tool = case.tool("-p", around.pid, "--duration", "1s", "--no-trace").done()
    finally:
        os.kill(job, signal.SIGKILL)
    told = [m for m in tool.messages() if m.is_of("capture.descendant-*", [job])]
    assert len(told) == 1 and told[0].is_of("capture.descendant-has-framework", ["PyTorch"]), tool.err  # it is no rank


ENGINE = """
import subprocess, sys, torch
worker = subprocess.Popen([sys.executable, "-c", sys.argv[1], "worker"], stdout=subprocess.PIPE)
worker.stdout.readline()
print(worker.pid, flush=True)
worker.wait()
"""


@test("shell around an engine around its worker: both are named at once")
def engine(case):
    script = '"$0" -c "$1" "$2" & echo $!; wait'
    around = start(case, ["bash", "-c", script, PYTHON, ENGINE, MODEL], stdout=subprocess.PIPE, text=True)
    middle = int(around.stdout.readline())
    worker = int(around.stdout.readline())
    try:
        tool = case.tool("-p", around.pid, "--duration", "1s", "--no-trace").done()
    finally:
        os.kill(worker, signal.SIGKILL)
    assert tool.said("capture.descendant-has-framework", middle, around.pid), tool.err
    assert tool.said("capture.descendant-has-framework-too", worker, middle, "PyTorch"), tool.err


POOL = """
import os, time
import torch
if os.fork() == 0:
    torch.set_num_threads(1)
    model = torch.nn.Linear(64, 64)
    with torch.inference_mode():
        while True:
            model(torch.ones(8, 64)).relu()
            time.sleep(0.02)
print("ready", flush=True)
os.wait()
"""


@test("parent of inference workers: the worker is named, which has steps")
def pool(case):
    parent = start(case, [PYTHON, "-c", POOL], stdout=subprocess.PIPE)
    parent.stdout.readline()
    child = int(pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text())
    try:
        tool = case.tool("-p", parent.pid, "--no-follow", "--record", "0:2", "--step-timeout", "4s")
        tool.fails("capture.steps-*", 4, parent.pid, timeout_s=20)
        assert tool.said("capture.descendant-has-framework", child), tool.err
        tool = case.tool("-p", child, "--record", "0:2", "--no-trace").done(30)
        assert "thread %d" % child in row(tool.report(), "summary")["step_rule"], tool.out
        case.tool("-p", child, "--detail", "phase", "--record", "0:2", "--no-trace",
                  "--step-timeout", "8s").done(30)
    finally:
        os.kill(child, signal.SIGKILL)


TRAINERS = """
import os, time
import torch
torch.set_num_threads(1)
for pause in (0.005, 0.007):
    if os.fork() == 0:
        model = torch.nn.Linear(64, 64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        while True:
            optimizer.zero_grad()
            model(torch.ones(8, 64)).sum().backward()
            optimizer.step()
            time.sleep(pause)
print("ready", flush=True)
os.wait()
"""


@test("parent of two trainers: whose the steps are, and how to have the other's")
def two_trainers(case):
    parent = start(case, [PYTHON, "-c", TRAINERS], stdout=subprocess.PIPE, start_new_session=True)
    case.finally_(lambda: os.killpg(parent.pid, signal.SIGKILL))
    parent.stdout.readline()
    trainers = set(process.children(parent.pid))
    tool = case.tool("-p", parent.pid, "--record", "2:10", "--no-trace").done()
    note = next(n for n in tool.out.splitlines() if "steps are those of process" in n.lower())
    whose, = {e["pid"] for e in tool.events() if e.get("type") == "step"}
    assert f"process {whose};" in note and f"-p {whose},{(trainers - {whose}).pop()}" in note, note
    both = case.tool("-p", ",".join(map(str, trainers)), "--record", "2:10", "--no-trace").done()
    assert "are not counted" not in both.out and len(both.recordings()) == 2, both.out


@test("file that is no program: says what to look at")
def no_program(case):
    case.tool("run", "--", "/etc/passwd").fails("cli.program-not-permitted", "/etc/passwd")


FORKER = """
import os, signal, time
import torch
torch.set_num_threads(1)
forks = [True]
signal.signal(signal.SIGUSR1, lambda *_: forks.clear())
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
print("ready", flush=True)
while True:
    optimizer.zero_grad()
    model(torch.ones(8, 64)).sum().backward()
    optimizer.step()
    time.sleep(0.005)
    if forks and not os.fork():
        os._exit(0)
    if forks:
        os.wait()
"""


@test("children that are gone at once are told of in the windows that they were in")
def short_children(case):
    parent = start(case, [PYTHON, "-c", FORKER], stdout=subprocess.PIPE)
    parent.stdout.readline()
    tool = case.tool("-p", parent.pid, "--dump-every", "300ms", "--no-trace", "--no-progress")

    def windows(cnt):
        process.wait_for(lambda: len(tool.recordings()) >= cnt, 60, f"{cnt} windows")

    windows(2)
    parent.send_signal(signal.SIGUSR1)
    windows(5)
    tool.interrupt().done(30)
    told = [str(report(next(tool.dir.glob(f"*{parent.pid}{which}.ptrec")))) for which in ("", ".3")]
    assert "forked processes ended before they had probes" in told[0], told[0]
    assert "before they had probes" not in told[1], told[1]


@test("code that runs from anonymous memory: says that probes do not reach it")
def copied_text(case):
    source, program = case.dir / "copied.c", case.dir / "copied"
    source.write_text(COPIED)
    subprocess.run(["gcc", "-O1", "-o", program, source], check=True)
    popen = subprocess.Popen([program])
    case.finally_(popen.wait)
    case.finally_(popen.kill)
    process.wait_for(lambda: not any(str(program) in line and "r-xp" in line for line in
                                     open(f"/proc/{popen.pid}/maps")), 10, "its copy")
    case.tool("-p", popen.pid, "--op", "exe:work", "--duration", "1s", "--no-trace").fails(
        "capture.function-code-anonymous", "--op", "exe:work", popen.pid)
    tool = case.tool("-p", popen.pid, "--duration", "1s", "--no-trace").done()
    assert "missing: " in tool.out and str(program) in tool.out, tool.out
