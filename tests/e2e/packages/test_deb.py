# SPDX-License-Identifier: BSD-2-Clause
import pathlib
import re
import shutil
import subprocess

from lib.runner import Skip, test
from lib.tool import PROFTRACE
from packages import GOLDEN, clean_root, make, run

CONF = "etc/proftrace/monitor.conf"


def deb():
    if not shutil.which("dpkg-shlibdeps"):
        raise Skip("no dpkg-shlibdeps: this machine makes no Debian packages")
    return make("deb", "proftrace_*.deb")


@test("the Debian package is installed in a root with its dependencies alone, and reports there")
def installs(case):
    package = deb()
    depends = run("dpkg-deb", "-f", package, "Depends")
    # Maintainer scripts call these essential packages, which no dependency names.
    root = clean_root(case, f"{depends}, dash, coreutils")
    dpkg = ("dpkg", f"--root={root}", "--no-debsig")
    run(*dpkg, "-i", package)
    shutil.copy(GOLDEN / "pytorch.ptrec", root / "tmp/pytorch.ptrec")
    assert run("chroot", root, "/usr/bin/proftrace", "--version") == run(PROFTRACE, "--version")
    for form in ("table", "json"):
        there = run("chroot", root, "/usr/bin/proftrace", "report", "-f", form, "/tmp/pytorch.ptrec")
        assert there == run(PROFTRACE, "report", "-f", form, GOLDEN / "pytorch.ptrec"), form
    enabled = list((root / "etc").rglob("*.service"))
    assert not enabled, f"installing enabled {enabled}"

    (root / CONF).write_text("keep = 2G\n")
    run(*dpkg, "-i", "--force-confold", package)
    assert (root / CONF).read_text() == "keep = 2G\n"
    run("chroot", root, "/usr/bin/proftrace", "monitor", "--check", "--config", f"/{CONF}")
    run(*dpkg, "-r", "proftrace")
    assert not (root / "usr/bin/proftrace").exists() and (root / CONF).exists()
    run(*dpkg, "-P", "proftrace")
    left = [path for folder in ("etc", "usr", "var") for path in (root / folder).rglob("*proftrace*")]
    assert not left, f"left after purge: {left}"


@test("lintian has no error and no warning about the Debian package")
def is_clean(case):
    package = deb()
    if not shutil.which("lintian"):
        raise Skip("no lintian")
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", str(package)], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


@test("the Debian package has pages, completions, a unit and a configuration whose defaults are right")
def has_all(case):
    tree = case.dir / "tree"
    run("dpkg-deb", "-x", deb(), tree)
    commands = run(PROFTRACE, "--help")
    for page in (tree / "usr/share/man/man1").iterdir():
        name = page.name.removesuffix(".1.gz").removeprefix("proftrace").removeprefix("-")
        assert name in commands, page
        assert run("gzip", "-dc", page) == run(PROFTRACE, "--man", *([name] if name else [])), page
    for shell, place in (("bash", "bash-completion/completions/proftrace"),
                         ("zsh", "zsh/vendor-completions/_proftrace"),
                         ("fish", "fish/vendor_completions.d/proftrace.fish")):
        assert (tree / "usr/share" / place).read_text() == run(PROFTRACE, "completion", shell), shell
    # With each line in force the monitor must accept the configuration. Each line must say the same as --help.
    lines = [line[1:] for line in (tree / CONF).read_text().splitlines() if re.match("#[a-z-]+ = ", line)]
    conf = case.dir / "all.conf"
    conf.write_text("\n".join(lines).replace("user:alice", "user:root") + "\n")
    run(PROFTRACE, "monitor", "--check", "--config", conf)
    text = " ".join(run(PROFTRACE, "monitor", "--help").split())
    for line in lines:
        name, value = line.split(" = ")
        if name not in ("allow", "deny"):
            option = re.search(rf" --{name} [A-Z]+ .*?(?= --[a-z-]+ [A-Z]+ |$)", text)
            assert f"(default {value}" in option[0], line
    assert run("dpkg-deb", "--ctrl-tarfile", deb(), encoding="latin-1").count("conffiles")
    assert pathlib.Path(tree / "usr/lib/proftrace/libproftrace_cupti.so").stat().st_size
