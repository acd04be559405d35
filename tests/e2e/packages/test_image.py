# SPDX-License-Identifier: BSD-2-Clause
import json
import pathlib
import shutil
import subprocess

from lib.runner import Skip, test
from lib.tool import PROFTRACE
from packages import GOLDEN, ROOT, clean_root, make, run

VERSION = run(PROFTRACE, "--version").split()[-1]


@test("podman builds the image on a base with a C library and a shell; it reports")
def builds(case):
    if not shutil.which("podman"):
        raise Skip("no podman")
    podman = ("podman", "--root", case.dir / "storage", "--runroot", case.dir / "run", "--storage-driver", "vfs")
    probe = subprocess.run([*map(str, podman), "info"], capture_output=True, text=True)
    if probe.returncode:
        raise Skip(f"podman does not run: {probe.stderr.strip()[-200:]}")
    base = clean_root(case, "libc6, dash, coreutils")
    run("tar", "--one-file-system", "--exclude=./proc/*", "-C", base, "-cf", case.dir / "base.tar", ".")
    run(*podman, "import", case.dir / "base.tar", "localhost/base:1")
    context = case.dir / "context"
    context.mkdir()
    shutil.copy(make("tarball", "proftrace-*.tar.xz"), context)
    run(*podman, "build", "--isolation", "chroot", "--network", "host", "--pull-never", "--build-arg",
        "BASE=localhost/base:1", "--build-arg", f"VERSION={VERSION}", "-t", "localhost/proftrace:test", "-f",
        ROOT / "packaging/Containerfile", context)
    config = json.loads(run(*podman, "inspect", "localhost/proftrace:test"))[0]["Config"]
    assert config["Entrypoint"] == ["/opt/proftrace/bin/proftrace"] and config["Cmd"] == ["monitor"], config
    # Does not use `podman run`, because on some machines podman can make images but not run them (limits, control
    # groups).
    root = pathlib.Path(run(*podman, "image", "mount", "localhost/proftrace:test").strip())
    case.finally_(run, *podman, "rmi", "--all", "--force")
    case.finally_(run, *podman, "image", "umount", "--all")
    run("mount", "--bind", "/proc", root / "proc")
    case.finally_(run, "umount", root / "proc")
    shutil.copy(GOLDEN / "pytorch.ptrec", root / "tmp/pytorch.ptrec")
    there = run("chroot", root, *config["Entrypoint"], "report", "-f", "json", "/tmp/pytorch.ptrec")
    assert there == run(PROFTRACE, "report", "-f", "json", GOLDEN / "pytorch.ptrec")
