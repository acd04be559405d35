# SPDX-License-Identifier: BSD-2-Clause
"""Makes packages of this build, and roots that have only what a package requires."""
import os
import pathlib
import re
import shutil
import subprocess
import threading

from lib.tool import PROFTRACE

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(PROFTRACE).resolve().parent
GOLDEN = ROOT / "tests/golden"
MAKING = threading.Lock()  # tests run side by side, and make in one directory does not
made = {}


def run(*command, **settings):
    """Runs a command that must succeed. Returns its standard output."""
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, **settings)
    said = done.stdout[-2000:] + done.stderr
    assert done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}: {said}"
    return done.stdout


def make(target, pattern):
    """Returns the file that `make TARGET` makes, once for all tests. The build exists already, with the same flags."""
    with MAKING:
        if target not in made:
            before = os.stat(PROFTRACE).st_mtime_ns
            for old in BUILD.glob(pattern):
                old.unlink()
            run("make", "-s", "-C", ROOT, f"BUILD={BUILD}", target)
            assert os.stat(PROFTRACE).st_mtime_ns == before, f"make {target} rebuilt proftrace with other flags"
            made[target], = BUILD.glob(pattern)
    return made[target]


def field(package, name):
    return run("dpkg-query", "-W", f"-f=${{{name}}}", package)


def names_in(depends):
    """Returns the package names of a dependency field. Of alternatives, takes the first one that is installed here."""
    for group in filter(None, depends.split(",")):
        names = [one.split("(")[0].split(":")[0].strip() for one in group.split("|")]
        there = [name for name in names if subprocess.run(
            ["dpkg-query", "-W", name], capture_output=True).returncode == 0]
        if there:
            yield there[0]


def closure(depends):
    found, waiting = set(), list(names_in(depends))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += names_in(field(name, "Depends") + "," + field(name, "Pre-Depends"))
    return sorted(found)


def clean_root(case, depends):
    """Makes a root with the files of those packages and their dependencies, a matching dpkg database, and /proc."""
    root = case.dir / "root"
    for directory in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "var/lib/dpkg/info", "var/lib/dpkg/updates",
                      "etc", "tmp", "dev", "proc", "run"):
        (root / directory).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    packages = closure(depends)
    for name in packages:
        for line in run("dpkg", "-L", name).splitlines():
            path = pathlib.Path(line)
            if line.startswith("/usr/share/") or not line.startswith("/") or path.is_dir():
                continue
            to = root / path.parent.resolve().relative_to("/") / path.name
            if path.is_symlink() or path.is_file():
                to.parent.mkdir(parents=True, exist_ok=True)
                if not os.path.lexists(to):
                    shutil.copy2(path, to, follow_symlinks=False)
    (root / "var/lib/dpkg/status").write_text("\n".join(run("dpkg-query", "-s", name) for name in packages))
    run("mount", "--bind", "/proc", root / "proc")
    case.finally_(run, "umount", root / "proc")
    return root


def bare_root(case):
    """A root with /proc, and without any program or library."""
    root = case.dir / "bare"
    for directory in ("proc", "sys", "dev", "tmp", "run", "var/lib"):
        (root / directory).mkdir(parents=True)
    for name in ("proc", "sys", "dev"):
        run("mount", "--rbind", f"/{name}", root / name)
        case.finally_(run, "umount", "-l", root / name)
    return root


def unpack(package, directory):
    """A tarball of ours, into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    run("tar", "-C", directory, "--strip-components=1", "--no-same-owner", "-xf", package)
    return directory


def newest_glibc(tree, names="*"):
    """The newest version of glibc's symbols that the ELF files of a directory need, as (2, 34)."""
    newest = (0, 0)
    for path in tree.rglob(names):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            needs = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "-V", path))
            newest = max([newest, *((int(major), int(minor)) for major, minor in needs)])
    return newest
