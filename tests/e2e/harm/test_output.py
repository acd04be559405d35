# SPDX-License-Identifier: BSD-2-Clause
"""There is no room, or no right to write: proftrace must report that, and the job must not notice."""
import subprocess

from lib import process
from lib.runner import test
from lib.tool import PROFTRACE, report, row


def small_disk(case, size):
    """Mounts an empty file system of that size."""
    disk = case.dir / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=True)
    case.finally_(subprocess.run, ["umount", "-l", disk])
    return disk


@test("disk full in the window: what was written opens, and its tables are printed")
def full_in_window(case):
    job, before = case.training()
    path = small_disk(case, "256k") / "x.ptrec"
    tool = case.tool("-p", job.pid, "--detail", "inner", "-o", path, "--no-trace")
    tool.fails("recording.not-written", path)
    assert tool.said("recording.disk-full", "No space left on device"), tool.err
    assert "incomplete: the file was cut off" in tool.out, tool.out
    assert "\nProfileStep " in tool.out and "\nsteps: 0\n" not in tool.out, tool.out
    before.check()
    job.wait_steps(3)
    text = subprocess.run([PROFTRACE, "report", path], text=True, capture_output=True)
    assert "cut off" in text.stdout + text.stderr, text.stderr
    assert row(report(path), "summary")["steps"] > 2


@test("disk full when the window opens")
def full_from_start(case):
    job, before = case.training()
    disk = small_disk(case, "16k")
    (disk / "filler").write_bytes(bytes(16384))
    tool = case.tool("-p", job.pid, "--record", "0:2", "-o", disk / "x.ptrec")
    tool.fails("recording.not-begun", disk / "x.ptrec")
    assert tool.said("recording.disk-full", "No space left on device"), tool.err
    assert not (disk / "x.ptrec").exists(), "an empty file was left"
    before.check()


@test("disk full when the trace is written: the recording is whole")
def full_for_trace(case):
    job, before = case.training()
    disk = small_disk(case, "16k")
    (disk / "filler").write_bytes(bytes(12288))
    tool = case.tool("-p", job.pid, "--record", "0:4", "--detail", "inner",
                     "--trace", disk / "x.json")
    tool.fails("exporters.output-disk-full", "x.json")
    assert not (disk / "x.json").exists(), "half a trace was left"
    assert row(tool.report(), "summary")["steps"] == 4
    before.check()


@test("file size limit in the window")
def size_limit(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--detail", "inner", "-o", case.dir / "x.ptrec", "--no-trace",
                     wrap=["bash", "-c", 'ulimit -f 64; exec "$0" "$@"'])
    tool.fails("recording.not-written", case.dir / "x.ptrec")
    assert tool.said("recording.too-large", "File too large"), tool.err
    before.check()


@test("places that cannot be written to are refused before anything is attached")
def unwritable(case):
    job, before = case.training()
    readonly = small_disk(case, "16k")
    subprocess.run(["mount", "-o", "remount,ro", readonly], check=True)
    absent = case.dir / "absent"
    place = "cli.place-not-writable"
    for where, words in (
            (["-o", absent / "x.ptrec"], ["cli.place-directory-missing", "recording", "No such file"]),
            (["-o", f"{absent}/b/"], ["cli.place-directory-missing", "recording", f"{absent}/b/", "No such file"]),
            (["-o", f"{job.log}/"], ["cli.place-in-file", "recording", "Not a directory"]),
            (["-o", ""], ["cli.option-value-empty", "output", "PATH"]),
            (["--trace", ""], ["cli.option-value-empty", "trace", "PATH"]),
            (["-o", "x" * 300], ["cli.place-name-too-long", "xxx", "...", "File name too long"]),
            (["-o", readonly], [place, "recording", "Read-only file system"]),
            (["-o", readonly / "x.ptrec"], [place, "recording", "Read-only file system"]),
            (["--trace", absent / "x.json"], ["cli.place-directory-missing", "trace", "No such file"]),
            (["--trace", readonly], [place, "trace", "Read-only file system"])):
        tool = case.tool("-p", job.pid, "--record", "1000000:1000001", *where)
        tool.fails(*words, timeout_s=5)
    before.check(0)


@test("tables that cannot be printed: the recording is whole")
def unprintable(case):
    job, before = case.training()
    with open("/dev/full", "w") as full:
        tool = case.tool("-p", job.pid, "--record", "0:2", stdout=full)
        tool.fails("common.stream-lacks-space", "the report", "No space left")
    assert row(tool.report(), "summary")["steps"] == 2
    before.check()
    process.wait_for(lambda: tool.popen.poll() is not None, 5, "its end")
