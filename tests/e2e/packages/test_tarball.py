# SPDX-License-Identifier: BSD-2-Clause
import http.server
import re
import shutil
import threading

from lib import process
from lib.runner import test
from lib.tool import PROFTRACE, report
from packages import GOLDEN, bare_root, make, newest_glibc, run, unpack

PROGRAM = "/usr/local/bin/proftrace"


def model_calls(path, name):
    return [row["calls"] for row in report(path, "--table", "model")["model"]["rows"] if row["name"] == name]


@test("the tarball runs in a root without a C library: it reports, records a job outside, and sends to a receiver")
def needs_nothing(case):
    root = bare_root(case)
    tree = unpack(make("tarball", "proftrace-*.tar.xz"), root / "usr/local")
    shutil.copy(GOLDEN / "pytorch.ptrec", root / "tmp/pytorch.ptrec")
    there = run("chroot", root, PROGRAM, "report", "-f", "json", "/tmp/pytorch.ptrec")
    assert there == run(PROFTRACE, "report", "-f", "json", GOLDEN / "pytorch.ptrec")
    job, before = case.training()
    case.tool("-p", job.pid, "--record", "2:4", "-o", "/tmp/out.ptrec", "--no-trace", binary=PROGRAM,
              wrap=("chroot", root)).done()
    assert model_calls(root / "tmp/out.ptrec", "ProfileStep") == [2]
    got = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    case.finally_(server.shutdown)
    monitor = case.tool("monitor", "--listen", "/tmp/monitor.sock", "--store", "/var/lib/proftrace", "--allow",
                        "command:none-such", "--otlp", f"http://localhost:{server.server_address[1]}/v1/metrics",
                        "--otlp-interval", "1s", binary=PROGRAM, wrap=("chroot", root))
    process.wait_for(lambda: got, 30, f"a body: {monitor.err}")
    with open(f"/proc/{monitor.pid}/comm") as file:
        assert file.read() == "proftrace\n"
    monitor.interrupt()
    assert monitor.wait(30) == 0, monitor.err
    before.check()
    unit = (tree / "lib/systemd/system/proftrace-monitor.service").read_text()
    start, conf = re.search("^ExecStart=(.*) monitor --config (.*)$", unit, re.M).groups()
    assert (root / start[1:]).exists() and (root / conf[1:]).exists(), unit


@test("the tarball has the pages and what INSTALL says, and a license of each package that a library is of")
def is_whole(case):
    tree = unpack(make("tarball", "proftrace-*.tar.xz"), case.dir / "tree")
    for name in ("etc/proftrace/monitor.conf", "share/man/man1/proftrace.1", "share/proftrace/rules.yml"):
        assert (tree / name).stat().st_size, name
    owners = {run("dpkg-query", "-S", f"*-linux-gnu/{path.name}").split(":")[0]
              for path in (tree / "lib/proftrace").glob("*.so.*")}
    licenses = {path.name for path in (tree / "share/doc/proftrace/licenses").iterdir()}
    assert licenses == owners | {"proftrace"}, (licenses, owners)
    glibc = "{}.{}".format(*newest_glibc(tree / "lib/proftrace", "libproftrace_cupti.so"))
    assert glibc == "2.17" and f"needs glibc\n{glibc} there" in (tree / "INSTALL").read_text(), glibc


@test("the tarball's program records a job from where it was unpacked, by a link")
def records(case):
    tree = unpack(make("tarball", "proftrace-*.tar.xz"), case.dir / "elsewhere")
    (case.dir / "linked").symlink_to(tree / "bin/proftrace")
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--record", "2:4", binary=str(case.dir / "linked")).done()
    assert model_calls(tool.recordings()[0], "ProfileStep") == [2]
    before.check()
