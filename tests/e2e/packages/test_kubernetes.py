# SPDX-License-Identifier: BSD-2-Clause
import json
import re
import shutil
import subprocess

from lib import process
from lib.runner import Skip, test
from packages import ROOT, clean_root, make, run, unpack

MANIFESTS = ROOT / "share/proftrace/kubernetes"
PARSE = "import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)"


def objects(overlay):
    """What `kubectl apply -k` would apply, by kind."""
    if not shutil.which("kubectl"):
        raise Skip("no kubectl")
    text = run("kubectl", "kustomize", MANIFESTS / overlay)
    done = subprocess.run(["/usr/bin/python3", "-c", PARSE], input=text, text=True, capture_output=True)
    if "No module named 'yaml'" in done.stderr:
        raise Skip("no python3-yaml")
    assert done.returncode == 0, done.stderr
    return {each["kind"]: each for each in json.loads(done.stdout)}


def capabilities():
    text = (MANIFESTS / "capabilities/security.yaml").read_text()
    return re.findall("^ +- ([A-Z_]+)$", text[text.index("add:"):], re.M)


@test("each overlay makes a DaemonSet with the rights that it promises, and the options are the monitor's")
def overlays(case):
    for overlay in ("capabilities", "privileged"):
        made = objects(overlay)
        assert sorted(made) == ["DaemonSet", "Namespace"], made
        daemon_set = made["DaemonSet"]
        assert daemon_set["metadata"]["namespace"] == made["Namespace"]["metadata"]["name"] == "proftrace"
        assert daemon_set["spec"]["updateStrategy"] == {"type": "OnDelete"}
        pod = daemon_set["spec"]["template"]
        assert pod["metadata"]["labels"].items() >= daemon_set["spec"]["selector"]["matchLabels"].items()
        assert pod["spec"]["hostPID"] and pod["spec"]["hostNetwork"] and not pod["spec"]["automountServiceAccountToken"]
        container, = pod["spec"]["containers"]
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"] and rights["privileged"] == (overlay == "privileged")
        if overlay == "capabilities":
            assert rights["capabilities"] == {"drop": ["ALL"], "add": capabilities()}
            assert not rights["allowPrivilegeEscalation"]
            assert rights["seccompProfile"]["type"] == rights["appArmorProfile"]["type"] == "Unconfined"
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume["hostPath"]["path"] for volume in pod["spec"]["volumes"]}
        assert mounts == volumes, (mounts, volumes)
        arguments = dict(zip(container["args"][1::2], container["args"][2::2]))
        assert arguments["--store"] in mounts.values()
        for probe in ("startupProbe", "livenessProbe"):
            get = container[probe]["httpGet"]
            assert f"{get['host']}:{get['port']}" == arguments["--listen"] and get["path"] == "/health"
        run(unpack(make("tarball", "proftrace-*.tar.xz"), case.dir / overlay) / "bin/proftrace", *container["args"],
            "--check")


@test("the unit and the overlay without privileges name the same capabilities")
def same_capabilities(case):
    unit = (ROOT / "packaging/proftrace-monitor.service.in").read_text()
    lines = re.findall("^CapabilityBoundingSet=(.*)", unit, re.M)
    assert re.findall(r"CAP_(\w+)", " ".join(lines)) == capabilities()


@test("in a root of its own, with the overlay's capabilities, the monitor records a job of the host")
def records(case):
    root = clean_root(case, "libc6, util-linux")
    unpack(make("tarball", "proftrace-*.tar.xz"), root / "opt/proftrace")
    for name in ("sys", "dev"):
        (root / name).mkdir(exist_ok=True)
        run("mount", "--rbind", f"/{name}", root / name)
        case.finally_(run, "umount", "-l", root / name)
    job = case.job("named.py", case.dir.name[-12:], "train.py", fresh=True).wait_steps(5)
    bounds = ",".join(["-all", *(f"+{name.lower()}" for name in capabilities())])
    place = "/tmp/monitor.sock"
    monitor = case.tool("monitor", "--listen", place, "--store", "/store", "--allow", f"command:{case.dir.name[-12:]}",
                        "--young", "1s", "--scan", "1s", "--budget", "50%", "--max-duty", "25%", "--window", "10",
                        "--cpu", "100", "--max-pressure", "100%", binary="/opt/proftrace/bin/proftrace",
                        wrap=("chroot", root, "setpriv", "--bounding-set", bounds, "--no-new-privs"))

    def rank():
        assert monitor.popen.poll() is None, monitor.err
        answer = subprocess.run(["curl", "-sf", "--unix-socket", f"{root}{place}", "http://localhost/jobs"], text=True,
                                capture_output=True)
        ranks = json.loads(answer.stdout or "{}").get("ranks")
        return ranks[0] if ranks else {"windows": 0}

    process.wait_for(lambda: rank()["windows"] >= 2, 60, f"two windows: {monitor.err}")
    seen = rank()
    assert seen["pid"] == job.pid and seen["framework"] == "PyTorch" and seen["sampled_steps"] > 0, seen
    status = dict(line.split(":\t") for line in open(f"/proc/{monitor.pid}/status") if ":\t" in line)
    assert bin(int(status["CapBnd"], 16)).count("1") == len(capabilities()), status
