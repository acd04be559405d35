# SPDX-License-Identifier: BSD-2-Clause
import json
import pathlib
import re
import shutil
import subprocess

from lib import process
from lib.job import PYTHON, WORKLOADS
from lib.runner import Skip, test
from lib.tool import PROFTRACE
from own_systemd import OwnSystemd
from packages import make, run

UNIT = "proftrace-monitor.service"
CAPABILITIES = {1: "DAC_OVERRIDE", 2: "DAC_READ_SEARCH", 5: "KILL", 6: "SETGID", 7: "SETUID", 8: "SETPCAP",
                19: "SYS_PTRACE", 21: "SYS_ADMIN", 23: "SYS_NICE", 38: "PERFMON", 39: "BPF", 40: "CHECKPOINT_RESTORE"}
# Runs as a user without a name. Python may lie in a directory of root.
JOB = """[Service]
ExecStart=setpriv --reuid 1234 --regid 1234 --clear-groups --inh-caps +dac_read_search \\
  --ambient-caps +dac_read_search {python} -B {workloads}/named.py --log {log} {name} train.py
WorkingDirectory=/tmp
StandardOutput=append:{log}.out
StandardError=append:{log}.out
Environment=OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 HOME=/tmp
"""
CONF = """allow = command:{name}
young = 1s
scan = 1s
budget = 50%
max-duty = 25%
window = 10
cpu = 100
max-pressure = 100%
listen = {place}
"""


def tree_of(case):
    if not shutil.which("dpkg-shlibdeps"):
        raise Skip("no dpkg-shlibdeps: this machine makes no Debian packages")
    run("dpkg-deb", "-x", make("deb", "proftrace_*.deb"), case.dir / "tree")
    return case.dir / "tree"


def unit_of(case, tree, conf):
    """The package's unit, changed to start the program where the package was unpacked."""
    units = case.dir / "units"
    units.mkdir()
    text = (tree / f"usr/lib/systemd/system/{UNIT}").read_text()
    text, cnt = re.subn("/usr/bin/proftrace (.*) /etc/proftrace/monitor.conf",
                        f"{tree}/usr/bin/proftrace \\1 {conf}", text)
    assert cnt == 1, text
    (units / UNIT).write_text(text)
    return units


@test("systemd finds nothing wrong with the unit, and rates what it may do below 4.5 of 10")
def is_valid(case):
    if not shutil.which("systemd-analyze"):
        raise Skip("no systemd-analyze")
    unit = unit_of(case, tree_of(case), case.dir / "monitor.conf") / UNIT
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], text=True, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    run("systemd-analyze", "security", "--offline=true", "--threshold=44", "--no-pager", unit)


@test("a systemd runs the unit as hardened as it is, and it records the windows of another user's job")
def runs(case):
    name, log = f"unit{case.dir.name}"[-15:], case.dir / "job.log"
    conf = case.dir / "monitor.conf"
    # The directory is in /run, because the unit may write nowhere else.
    place = "/run/proftrace/test.sock"
    conf.write_text(CONF.format(name=name, place=place))
    units = unit_of(case, tree_of(case), conf)
    # systemd has no journal here, and would drop the monitor's output.
    said = case.dir / "monitor.out"
    unit = units / UNIT
    unit.write_text(unit.read_text().replace("[Service]\n", f"[Service]\nStandardError=append:{said}\n"))
    log.touch()
    log.chmod(0o666)
    (units / "job.service").write_text(JOB.format(python=PYTHON, workloads=WORKLOADS, log=log, name=name))
    systemd = OwnSystemd(case, units)
    systemd.start("job.service")
    systemd.start(UNIT)

    def ask(path):
        return systemd.inside("curl", "-sf", "--unix-socket", place, f"http://localhost{path}").stdout

    def rank():
        assert systemd.show(UNIT, "ActiveState") == "active", said.read_text()
        assert systemd.show("job.service", "ActiveState") == "active", systemd.ask("status", "job.service").stdout
        ranks = json.loads(ask("/jobs") or "{}").get("ranks")
        return ranks and ranks[0]

    process.wait_for(lambda: (rank() or {"windows": 0})["windows"] >= 2, 60, "two windows")
    seen = rank()
    assert seen["uid"] == 1234 and seen["step_rule"] == "DataLoader", seen
    truth = len(log.read_text().splitlines())
    assert seen["sampled_steps"] <= seen["steps"] <= truth, (seen, truth)

    main = systemd.show(UNIT, "MainPID")
    status = dict(line.split(":\t") for line in systemd.inside("cat", f"/proc/{main}/status").stdout.splitlines()
                  if ":\t" in line)
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
    lines = re.findall("^CapabilityBoundingSet=(.*)", (units / UNIT).read_text(), re.M)
    wanted = set(re.findall(r"CAP_(\w+)", " ".join(lines)))
    bounds = {CAPABILITIES.get(bit, bit) for bit in range(64) if int(status["CapBnd"], 16) >> bit & 1}
    assert bounds == wanted, (bounds, wanted)
    assert systemd.show(UNIT, "MemoryMax") == str(2 << 30)
    touched = systemd.inside("nsenter", "-t", main, "-m", "touch", "/usr/proftrace-test")
    assert "Read-only file system" in touched.stderr, touched

    # If a report's sandbox lacks something, a note of the report says so.
    store = pathlib.Path(f"/proc/{systemd.first()}/root/var/lib/proftrace")
    newest = max(store.glob("*.ptrec"), key=lambda path: path.stat().st_mtime)
    recording = shutil.copy(newest, case.dir / "window.ptrec")
    text = run(PROFTRACE, "report", "--table", "all", recording)
    assert "ProfileStep" in text and not re.search("seccomp|Landlock|capabilit", text), text

    conf.write_text(conf.read_text().replace("window = 10", "window = 12"))
    assert systemd.ask("reload", UNIT).returncode == 0
    process.wait_for(lambda: "the configuration was read again" in said.read_text(), 10, "the reload")
    assert rank()["pid"] == seen["pid"]
    systemd.ask("stop", UNIT)
    assert systemd.show(UNIT, "Result") == "success", systemd.log.read_text()
