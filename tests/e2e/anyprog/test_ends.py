# SPDX-License-Identifier: BSD-2-Clause
"""Ranges that their program does not end, or not in order."""
import pathlib
import subprocess

from lib.job import ROOT
from lib.runner import test
from test_server import calls, rows, summary

HERE = pathlib.Path(__file__).resolve().parent
EACH = {"ends::request": 8, "ends::parse": 8, "ends::reply": 8}


def start(case, form):
    binary = case.dir / "ends"
    subprocess.run(["g++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-pthread", f"-I{ROOT}", "-o", binary,
                    HERE / "ends.cpp"], check=True)
    job = subprocess.Popen([binary, form])
    case.finally_(job.kill)
    return job


def record(case, form, *options):
    tool = case.tool("-p", start(case, form).pid, "--record", "40:48", *options).done()
    tables = tool.report()
    assert summary(tables)["steps"] == 8, tool.out
    return tool, tables


def lost(tables):
    return tables["cost"]["rows"][0]["events_lost"]


@test("a range that is left open ends with its frame: neither steps nor others are lost")
def left_open(case):
    for form in "leaves open", "elsewhere":
        tool, tables = record(case, form)
        found = rows(tables, "userdefined")
        assert calls(tables, "userdefined") == EACH and lost(tables) == 0, tool.out
        assert "8 ranges were not ended by the program" in tool.out, tool.out
        assert found["ends::parse"]["cpu_max_ns"] <= found["ends::request"]["cpu_max_ns"], tool.out


@test("a frame that is left open ends where the next one begins")
def frame_left_open(case):
    tool, tables = record(case, "frame")
    assert calls(tables, "userdefined") == EACH and lost(tables) == 0, tool.out
    assert "12 ranges were not ended by the program" in tool.out, tool.out


@test("a range that is left open without frames ends with what encloses it")
def no_frame(case):
    tool, tables = record(case, "no frame", "--step-range", "ends::request")
    assert calls(tables, "userdefined") == EACH and lost(tables) == 0, tool.out
    assert "8 ranges were not ended by the program" in tool.out, tool.out


@test("ranges that overlap, with their frame as well, end where they do")
def overlaps(case):
    tool, tables = record(case, "overlaps")
    found = rows(tables, "userdefined")
    assert calls(tables, "userdefined") == EACH and lost(tables) == 0, tool.out
    assert "not ended by the program" not in tool.out, tool.out
    least = {"ends::parse": 300, "ends::request": 600, "ends::reply": 900}
    for name, us in least.items():
        assert found[name]["cpu_min_ns"] > us * 1000, tool.out


@test("frames that overlap end where they do")
def frames_overlap(case):
    tool, tables = record(case, "frames overlap")
    found = rows(tables, "userdefined")
    assert lost(tables) == 0 and "not ended by the program" not in tool.out, tool.out
    assert found["ends::reply"]["cpu_max_ns"] > 900000 and found["ends::parse"]["cpu_max_ns"] > 300000, tool.out


@test("a frame is a step, however many ranges are open around it")
def deep(case):
    record(case, "deep")
