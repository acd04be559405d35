# SPDX-License-Identifier: BSD-2-Clause
"""There are links where proftrace's files go. proftrace must not write through them."""
import os
import pathlib
import subprocess

from common import AS_NOBODY, sleeping, their_directory
from lib.runner import Case, Skip, test
from lib.tool import PROFTRACE

AS_CONTAINERS_ROOT = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
AS_SUDO = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534"}
NAMES = ("{host}_{pid}.pt.trace.json.gz", "{host}_{pid}.ptrec", "{host}_{pid}.html")


def planted(case, pid):
    """Makes the neighbour's links to root's files. One of those files does not exist."""
    theirs, roots = their_directory(case), case.dir / "root"
    roots.mkdir()
    for name in ("shadow", "other"):
        (roots / name).write_text(name)
    names = [n.format(host=os.uname().nodename, pid=pid) for n in NAMES]
    for name, target in zip(names, ("shadow", "new", "other")):
        subprocess.run([*AS_NOBODY, "ln", "-s", f"../root/{target}", theirs / name], check=True)
    return theirs, roots, names


def check_unchanged(roots):
    assert sorted(p.name for p in roots.iterdir()) == ["other", "shadow"]
    for path in roots.iterdir():
        assert path.read_text() == path.name


def record(theirs, pid, *options, env=None):
    return subprocess.run([PROFTRACE, "-p", str(pid), "--duration", "1s", *options], cwd=theirs,
                          env=env, capture_output=True, text=True, timeout=120)


@test("links at the default names, in another user's directory: refused")
def default_names(case):
    pid = sleeping(case).pid
    theirs, roots, names = planted(case, pid)
    done = record(theirs, pid, "--html", ".")
    assert done.returncode == 1 and "symbolic link" in done.stderr, done.stderr
    check_unchanged(roots)
    assert not [p for p in theirs.iterdir() if not p.is_symlink()]


@test("links at the trace's and the page's names alone: the recording is kept")
def trace_and_page(case):
    pid = sleeping(case).pid
    theirs, roots, names = planted(case, pid)
    (theirs / names[1]).unlink()
    done = record(theirs, pid, "--html", ".")
    assert done.returncode == 1 and "symbolic link" in done.stderr, done.stderr
    check_unchanged(roots)
    recording = theirs / names[1]
    assert recording.is_file() and recording.stat().st_mode & 0o777 == 0o600
    assert recording.stat().st_uid == 0


@test("links at names that were given: refused; a link to a directory, too")
def given_names(case):
    pid = sleeping(case).pid
    theirs, roots, names = planted(case, pid)
    subprocess.run([*AS_NOBODY, "ln", "-s", "../root", theirs / "sub"], check=True)
    for place in (names[1], "sub/file.ptrec", "sub/"):
        done = record(theirs, pid, "-o", place, "--no-trace")
        assert done.returncode == 1 and "symbolic link" in done.stderr, (place, done.stderr)
    (theirs / names[1]).unlink()
    done = record(theirs, pid, "--report-file", names[0], "--no-trace")
    assert done.returncode == 1 and "symbolic link" in done.stderr, done.stderr
    for form in ("chrome", "perfetto", "pprof", "csv", "sqlite"):
        done = subprocess.run([PROFTRACE, "export", names[1], "--format", form, "-o", names[2]],
                              cwd=theirs, capture_output=True, text=True)
        assert done.returncode, (form, done.stderr)
    check_unchanged(roots)


@test("files of root's that the neighbour moved to our names: neither emptied nor their modes taken")
def moved_there(case):
    pid = sleeping(case).pid
    theirs = their_directory(case)
    trace, _, page = [n.format(host=os.uname().nodename, pid=pid) for n in NAMES]
    names = {trace: 0o644, page: 0o4755, "report": 0o644}
    for name, mode in names.items():
        (theirs / f"{name}.root").write_text(name)
        (theirs / f"{name}.root").chmod(mode)
        subprocess.run([*AS_NOBODY, "mv", theirs / f"{name}.root", theirs / name], check=True)
    kept = open(theirs / "report")
    case.finally_(kept.close)
    done = record(theirs, pid, "--html", ".", "--report-file", "report")
    assert done.returncode == 0, done.stderr
    assert kept.read() == "report"
    for name in names:
        assert (theirs / name).read_bytes() != name.encode(), name
        assert (theirs / name).stat().st_mode & 0o7777 == 0o600, name


@test("under sudo: files are the caller's, mode 0600")
def sudo(case):
    pid = sleeping(case).pid
    home = their_directory(case)
    done = record(home, pid, "-o", "out/", "--html", "p.html", env=AS_SUDO)
    assert done.returncode == 0, done.stderr
    made = [*(home / "out").iterdir(), home / "p.html"]
    assert len(made) == 3, made
    for path in (*made, home / "out"):
        assert path.stat().st_uid == 65534, path
    assert all(p.stat().st_mode & 0o777 == 0o600 for p in made)


@test("links that the root of a container made in a directory that it shares: refused, and what to type is told")
def container(case):
    pid = sleeping(case).pid
    shared, roots = case.dir / "shared", case.dir / "root"
    for directory in (shared, roots):
        directory.mkdir()
    for name in ("shadow", "other"):
        (roots / name).write_text(name)
    for name, target in (("sub", "../root"), ("report", "../root/shadow")):
        subprocess.run([*AS_CONTAINERS_ROOT, "ln", "-s", target, shared / name], check=True)
    for options in (["-o", "shared/sub/a.ptrec", "--no-trace"], ["-o", "shared/sub/"],
                    ["-o", "a.ptrec", "--html", "shared/sub/other", "--no-trace"],
                    ["-o", "b.ptrec", "--report-file", "shared/report", "--no-trace"]):
        done = record(case.dir, pid, *options)
        link, target = ("report", roots / "shadow") if "b.ptrec" in options else ("sub", roots)
        assert done.returncode == 1, options
        assert f"{shared / link} is a symbolic link" in done.stderr, done.stderr
        assert f"name what it leads to: {target}\n" in done.stderr, done.stderr
    check_unchanged(roots)


@test("under sudo, behind a link of the caller's: what he may write, and nothing of root's")
def links_under_sudo(case):
    pid = sleeping(case).pid
    home, roots = their_directory(case), case.dir / "root"
    roots.mkdir()
    for name in ("shadow", "other"):
        (roots / name).write_text(name)
    subprocess.run([*AS_NOBODY, "sh", "-c", "mkdir real; ln -s real mine; ln -s ../root roots"],
                   cwd=home, check=True)
    done = record(home, pid, "-o", "mine/", "--html", "mine/p.html", "--report-file", "mine/report",
                  env=AS_SUDO)
    assert done.returncode == 0, done.stderr
    made = [*(home / "real").iterdir()]
    assert len(made) == 4 and all(p.stat().st_uid == 65534 for p in made), made
    for options in (["-o", "roots/a.ptrec"], ["--html", "roots/other"], ["--report-file", "roots/shadow"]):
        done = record(home, pid, *options, "--no-trace", env=AS_SUDO)
        assert done.returncode == 1 and "Permission denied" in done.stderr, done.stderr
    check_unchanged(roots)


@test("a sticky directory of all, as /tmp: the neighbour's links, pipes and files are left alone")
def sticky(case):
    pid = sleeping(case).pid
    shared, secret = case.dir / "sticky", case.dir / "secret"
    shared.mkdir()
    shared.chmod(0o1777)
    secret.write_text("secret")
    secret.chmod(0o666)
    subprocess.run([*AS_NOBODY, "sh", "-c", "ln -s ../secret link; ln -s .. sub; mkfifo pipe; echo x > file; "
                    "ln ../secret hard || true"], cwd=shared, check=True, capture_output=True)
    for name, why in (("link", "symbolic link"), ("sub/a", "symbolic link"), ("pipe", "of another user"),
                      ("file", "of another user"), ("hard", "other names")):
        if not os.path.lexists(shared / name.split("/")[0]):
            continue  # fs.protected_hardlinks
        done = record(shared, pid, "-o", "a.ptrec", "--no-trace", "--report-file", name)
        by_kernel = why == "symbolic link" and "Permission denied" in done.stderr  # fs.protected_symlinks
        assert done.returncode == 1 and (why in done.stderr or by_kernel), (name, done.stderr)
    assert secret.read_text() == "secret" and not (case.dir / "a").exists()
    assert (shared / "file").read_text() == "x\n"


@test("--owner: files are his, and his links are still refused; he replaces no file of root's")
def owner(case):
    pid = sleeping(case).pid
    home = their_directory(case)
    given = ["--owner", "65534:65533"]
    for _ in range(2):  # the second recording replaces the first one's files, or moves them aside
        done = record(home, pid, "-o", "out/", "--html", "p.html", *given)
        assert done.returncode == 0, done.stderr
    made = [*(home / "out").iterdir(), home / "p.html", home / "out"]
    assert len(made) == 5, made
    for path in made:
        assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65533), path
    recording = next((home / "out").glob("*.ptrec"))
    for form in ("csv", "sqlite"):
        done = subprocess.run([PROFTRACE, "export", recording, "-f", form, "-o", home / form, *given],
                              capture_output=True, text=True)
        assert done.returncode == 0 and (home / form).stat().st_uid == 65534, done.stderr
    (case.dir / "root").mkdir()
    subprocess.run([*AS_NOBODY, "ln", "-s", "../root/new", home / "link"], check=True)
    done = record(home, pid, "-o", "link", "--no-trace", *given)
    assert done.returncode == 1 and "symbolic link" in done.stderr, done.stderr
    assert not list((case.dir / "root").iterdir())
    done = subprocess.run([PROFTRACE, "export", "x", "--owner", "nosuchuser"], capture_output=True, text=True)
    assert done.returncode == 2 and "no user nosuchuser" in done.stderr, done.stderr


PROTECTIONS = [pathlib.Path("/proc/sys/fs", f"protected_{of}") for of in ("symlinks", "hardlinks", "fifos", "regular")]
# Sets the sysctls, says so, and sets them back when its input ends, also if the tests are killed.
PROTECT = """
for f; do before="$before $(cat $f)"; done
for f; do echo $VALUE > $f || exit; done
echo set; read -r _
for v in $before; do echo $v > $1; shift; done
"""


def protect(case, value):
    holder = subprocess.Popen(["sh", "-c", PROTECT, "sh", *PROTECTIONS], env={**os.environ, "VALUE": value},
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    case.finally_(holder.communicate)
    if holder.stdout.readline() != b"set\n":
        raise Skip("fs.protected_* cannot be set here")


def attacks_with(case, value):
    protect(case, value)
    for attack in (default_names, trace_and_page, given_names, moved_there, container, links_under_sudo,
                   sticky, owner):
        part = Case(case.dir)
        try:
            attack(part)
        finally:
            part.close()
        assert all(p.read_text() == f"{value}\n" for p in PROTECTIONS), "another process has set them"


@test("all of these with fs.protected_symlinks, hardlinks, fifos and regular off", alone=True)
def unprotected(case):
    attacks_with(case, "0")


@test("all of these with fs.protected_symlinks, hardlinks, fifos and regular on", alone=True)
def protected(case):
    attacks_with(case, "1")
