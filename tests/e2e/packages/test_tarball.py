# SPDX-License-Identifier: BSD-2-Clause
import re
import shutil

from lib.runner import test
from lib.tool import PROFTRACE, report
from packages import GOLDEN, clean_root, make, newest_glibc, run, unpack


@test("the tarball runs in a root that has a C library alone; INSTALL says which it needs")
def needs_libc(case):
    root = clean_root(case, "libc6")
    tree = unpack(make("tarball", "proftrace-*.tar.xz"), root / "usr/local")
    shutil.copy(GOLDEN / "pytorch.ptrec", root / "tmp/pytorch.ptrec")
    for name in ("INSTALL", "etc/proftrace/monitor.conf", "share/man/man1/proftrace.1", "share/proftrace/rules.yml"):
        assert (tree / name).stat().st_size, name
    there = run("chroot", root, "/usr/local/bin/proftrace", "report", "-f", "json", "/tmp/pytorch.ptrec")
    assert there == run(PROFTRACE, "report", "-f", "json", GOLDEN / "pytorch.ptrec")
    libraries = sorted(path.name for path in (tree / "lib/proftrace").iterdir())
    licenses = list((tree / "share/doc/proftrace/licenses").iterdir())
    assert len(licenses) == len(libraries), (licenses, libraries)  # one is proftrace's, as is one library
    unit = (tree / "lib/systemd/system/proftrace-monitor.service").read_text()
    start, conf = re.search("^ExecStart=(.*) monitor --config (.*)$", unit, re.M).groups()
    assert (root / start[1:]).exists() and (root / conf[1:]).exists(), unit
    glibc = "{}.{}".format(*newest_glibc(tree))
    assert f"with glibc {glibc} or later" in (tree / "INSTALL").read_text(), glibc


@test("the tarball's program records a job from where it was unpacked")
def records(case):
    tree = unpack(make("tarball", "proftrace-*.tar.xz"), case.dir / "elsewhere")
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--record", "2:4", binary=str(tree / "bin/proftrace")).done()
    model = report(tool.recordings()[0], "--table", "model")["model"]["rows"]
    assert [row["calls"] for row in model if row["name"] == "ProfileStep"] == [2], model
    before.check()
    assert newest_glibc(tree / "lib/proftrace", "libproftrace_cupti.so") == (2, 17), "see INSTALL"
