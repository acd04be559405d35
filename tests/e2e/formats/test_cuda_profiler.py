# SPDX-License-Identifier: BSD-2-Clause
"""Reads the log of CUDA's command line profiler as NVIDIA's guide describes it, and compares it with the rows of the
same recordings. The log's own reader, the Visual Profiler, is gone since CUDA 12."""
import csv
import re

from common import export, golden, proftrace, same
from lib.runner import test

ALL = ("gpustarttimestamp,gpuendtimestamp,timestamp,gridsize3d,threadblocksize,dynsmemperblock,"
       "stasmemperblock,regperthread,streamid,memtransfersize,memtransferdir,"
       "memtransferhostmemtype,cacheconfigrequested,cacheconfigexecuted")
PAIR = re.compile(r"(\w+)=\[ (.*?) \] (?=\w+=\[ |$)")
COPIES = {"Memcpy HtoD (Pageable -> Device)": ("memcpyHtoD", "0", "0"),
          "Memcpy HtoD (Pinned -> Device)": ("memcpyHtoD", "0", "1"),
          "Memcpy DtoH (Device -> Pinned)": ("memcpyDtoH", "1", "1"),
          "Memcpy DtoD (Device -> Device)": ("memcpyDtoD", None, None)}
THREE = {"gridsize": 3, "threadblocksize": 3}


def split(path):
    lines = path.read_text().splitlines()
    head = [line for line in lines if line.startswith("#")]
    same(head[0], "# CUDA_PROFILE_LOG_VERSION 2.0", "version")
    return head, lines[len(head):]


def pairs(path):
    head, lines = split(path)
    names, rows = lines[0].split(","), []
    for line in lines[1:]:
        same("".join(m.group() for m in PAIR.finditer(line)), line, "nothing between pairs")
        row = {}
        for key, value in PAIR.findall(line):
            if key in THREE:
                row.update(zip((key + axis for axis in "XYZ"), value.split(", ")))
            else:
                row[key] = value
        assert set(row) <= set(names), (row, names)
        rows.append(row)
    return head, rows


def table(path):
    head, lines = split(path)
    assert "# CUDA_PROFILE_CSV 1" in head, head
    rows = list(csv.reader(lines))
    for row in rows:
        same(len(row), len(rows[0]), "columns")
    return head, [{k: v for k, v in zip(rows[0], row) if v} for row in rows[1:]]


def work(case, name):
    with open(export(case, name, "csv", f"{name}.rows.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    return [r for r in rows if r["type"] == "device" and r["kind"] != "Synchronization"], \
        {r["id"]: r for r in rows}


@test("cuda-profiler: pairs and csv say the same, which is what the rows say")
def rows(case):
    seen = set()
    for name in ("gpu", "simgpu"):
        _, log = pairs(export(case, name, "cuda-profiler", f"{name}.log", "--config", ALL))
        _, sheet = table(export(case, name, "cuda-profiler", f"{name}.csv", "--config", ALL,
                                "--dialect", "csv"))
        same(log, sheet, name)
        want, by_id = work(case, name)
        assert want, name
        same(len(log), len(want), f"{name}: rows")
        offset = int(log[0]["gpustarttimestamp"], 16) - int(want[0]["ts_ns"])
        for got, row in zip(log, want):
            same(int(got["gpustarttimestamp"], 16) - offset, int(row["ts_ns"]), "begin")
            same(int(got["gpuendtimestamp"], 16) - int(got["gpustarttimestamp"], 16),
                 int(row["dur_ns"]), "duration")
            same(got["gputime"], f"{int(row['dur_ns']) / 1000:.3f}", "gputime")
            same(got["cputime"], f"{int(by_id[row['launch_id']]['cpu_ns']) / 1000:.3f}", "cputime")
            same(got["streamid"], row["stream"], "stream")
            if row["kind"] == "Kernel":
                same(got["method"], row["name"], "kernel")
                if row["grid"]:
                    same([got["gridsize" + a] for a in "XYZ"],
                         row["grid"].strip("[]").split(","), "grid")
                    same([got["threadblocksize" + a] for a in "XYZ"],
                         row["block"].strip("[]").split(","), "block")
                    same(got["regperthread"], row["registers"], "registers")
                    same(int(got["dynsmemperblock"]) + int(got["stasmemperblock"]),
                         int(row["shared_bytes"]), "shared memory")
            if row["kind"] == "Memcpy":
                seen.add(row["name"])
                kind, direction, host = COPIES[row["name"]]
                assert got["method"] in (kind, kind + "async"), got
                same((got.get("memtransferdir"), got.get("memtransferhostmemtype")),
                     (direction, host), row["name"])
            same("gridsizeX" in got, bool(row["grid"]), "a grid where one is known")
            same(got.get("memtransfersize"), row["value"] or None if row["kind"] == "Memcpy"
                 else None, "bytes of copies")
    same(seen, set(COPIES), "kinds of copies")


@test("cuda-profiler: the default is Paddle's; a file of options, and what it leaves empty")
def options(case):
    head, log = pairs(export(case, "simgpu", "cuda-profiler", "default.log"))
    same(head[1:], ["# CUDA_DEVICE 0 SimGPU H100 80GB", "# CUDA_CONTEXT 1"], "head")
    kernel = next(r for r in log if r["method"].startswith("sim_cudnn_conv"))
    same(set(kernel), {"gpustarttimestamp", "gpuendtimestamp", "method", "gputime", "cputime",
                       "occupancy", "streamid"} | {k + a for k in THREE for a in "XYZ"}, "keys")
    config = case.dir / "config"
    config.write_text("# what the guide has\nprofilelogformat CSV\nstreamid\n"
                      "cacheconfigrequested\ncudadevice 0\n")
    done = proftrace("export", "-f", "cuda-profiler", "--config-file", config, "-o",
                     case.dir / "x.csv", golden("simgpu"))
    assert b"left empty, as the recording does not know it: cacheconfigrequested of 90 rows" \
        in done.stderr, done.stderr
    _, sheet = table(case.dir / "x.csv")
    same(len(sheet), len(log), "rows")
    assert "cacheconfigrequested" not in sheet[0], sheet[0]


@test("cuda-profiler: a wrong mode, option or device is named with the known ones")
def wrong(case):
    for args, text in ((("--dialect", "xml"), "cuda-profiler has kvp and csv"),
                       (("--config", "active_warps"), "known: gpustarttimestamp, "),
                       (("--config", "cudadevice 9"), "nothing ran on device 9"),
                       (("--dialect", "csv", "--config", "profilelogformat KVP"), "give one")):
        try:
            export(case, "simgpu", "cuda-profiler", "x.log", *args)
        except AssertionError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{args} was taken")
    try:
        export(case, "simgpu", "csv", "x.csv", "--config", "streamid")
    except AssertionError as error:
        assert "csv has no options" in str(error), error
    else:
        raise AssertionError("csv took options")
    same(list(case.dir.iterdir()), [], "nothing was written")
