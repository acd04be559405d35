#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare.py DUMP TRUTH [named]: the calls that probes saw against the simulation's own log. On each thread
the same functions in the same order, each begun before and ended after what the log says; copies and
sets with the same bytes, direction and stream. A call within a call is none, and a library that
carries a runtime of its own shows its calls of the driver alone. named: every kernel launched by
the runtime has its name, otherwise some may have none."""
import collections
import functools
import re
import subprocess
import sys

FOLLOWED = re.compile(
    "(__)?cudaLaunch|cuLaunch|cu(da)?GraphLaunch|cu(da)?Mem(cpy|set|Prefetch)|cudaMalloc|cudaHostAlloc|cudaFree|"
    "cuMem(Host)?Alloc|cuMemFree|cuMem(Create|Release|Map|Unmap|SetAccess)|cudaDeviceSynchronize|cuCtxSynchronize|"
    "cu(da)?(Stream|Event)(Synchronize|WaitEvent|Record|Create|Destroy|BeginCapture|EndCapture)|"
    "cu(da)?Graph(Instantiate|Upload|Exec(Update|Destroy)|Destroy)|cu(Module|Library)(Load|Unload)|cudaLibrary(Load|Unload)")
COPIES = {"HtoH": 1, "HtoD": 2, "DtoH": 3, "DtoD": 4, "PtoP": 4}

Call = collections.namedtuple("Call", "domain name tid start end flags bytes stream copy kernel")


def rows(path):
    with open(path) as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def fail(text, *examples):
    print(f"compare: {text}", file=sys.stderr)
    for example in examples[:6]:
        print(f"    {example}", file=sys.stderr)
    sys.exit(1)


def plain(name):
    """Returns the name without version, stream variant and nvcc's underscores."""
    return re.sub(r"(_v\d+)?(_ptsz|_ptds)?(_v\d+)?$", "", name).lstrip("_")


@functools.cache
def demangled(name):
    return subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout.rstrip("\n")


def truth_of(path):
    """Returns the outermost calls and the device's work for them: lists of (call, activities) by thread."""
    table = rows(path)
    column = {name: i for i, name in enumerate(table[0])}
    work, calls = collections.defaultdict(list), {}
    for row in table[1:]:
        value = {name: row[i] for name, i in column.items() if i < len(row)}
        if value["kind"] in ("kernel", "memcpy", "memset"):
            work[value["correlation"]].append(value)
        elif value["kind"] in ("runtime", "driver"):
            calls.setdefault(value["correlation"], {})[value["kind"]] = value
    threads = collections.defaultdict(list)
    for correlation, found in calls.items():
        own_runtime = any(w["name"].startswith("sim_") for w in work[correlation])
        call = found["driver"] if own_runtime else found.get("runtime") or found["driver"]
        if FOLLOWED.match(call["name"]):
            threads[int(call["tid"])].append((call, work[correlation]))
    for list_ in threads.values():
        list_.sort(key=lambda pair: int(pair[0]["start_ns"]))
    return threads


def take(row):
    domain, name, tid, start, end, flags, size, stream, copy, kernel = row
    return Call(domain, name, int(tid), int(start), int(end), int(flags), int(size), stream, int(copy), kernel)


def match(told, true, streams):
    """Compares one call. Returns why it differs, or None."""
    call, work = true
    if (told.domain, told.name) != (call["kind"], plain(call["name"])):
        return f"is {call['kind']} {call['name']}"
    if not told.flags & 3 and not told.start <= int(call["start_ns"]) <= int(call["end_ns"]) <= told.end:
        return f"lasts from {call['start_ns']} to {call['end_ns']}"
    moved = sum(int(w["bytes"]) for w in work if w["kind"] != "kernel")
    if moved and moved != told.bytes:
        return f"moved {moved} bytes"
    for w in work:
        if w["kind"] == "memcpy" and COPIES[w["name"]] != told.copy:
            return f"copies {w['name']}"
        if w["kind"] == "kernel" and len(work) == 1:
            unnamed = told.kernel.startswith("unnamed kernel of ") and (told.domain == "driver" or "named" not in sys.argv)
            if not unnamed and told.kernel != demangled(w["name"]):
                return f"launches {w['name']}"
        if told.stream != "f" * 16 and len(work) == 1:
            if streams.setdefault(told.stream, (w["dev"], w["stream"])) != (w["dev"], w["stream"]):
                return f"is on stream {w['stream']} of {w['dev']}, not {streams[told.stream]}"
    return None


def compare_thread(tid, told, true, streams):
    """Calls at the edges of the window may be missing: they were under way."""
    told.sort(key=lambda c: c.start)
    if told[0].flags & 1:
        told = told[1:]  # the call was under way when the window opened, and the log has its true begin
    if not told:
        return 0, len(true)
    if told[-1].flags & 2:
        # The log has calls that returned, and of a program that was killed not the last ones.
        last = int(true[-1][0]["start_ns"])
        told = [c for c in told if c.start <= last]
    if not told:
        return 0, len(true)
    by_start = next((i for i, (call, _) in enumerate(true) if int(call["start_ns"]) >= told[0].start), None)
    if by_start is None or len(true) - by_start < len(told):
        fail(f"thread {tid}: {len(told)} calls were told, fewer were made")
    for i, call in enumerate(told):
        why = match(call, true[by_start + i], streams)
        if why:
            fail(f"thread {tid}: call {i} of {len(told)} {why}", call, *told[max(0, i - 3):i + 2])
    return by_start, by_start + len(told)


def main():
    dump, truth = rows(sys.argv[1]), truth_of(sys.argv[2])
    begin, end = next((int(r[1]), int(r[2])) for r in dump if r[0] == "window")
    told = collections.defaultdict(list)
    for call in (take(r) for r in dump if r[0] in ("runtime", "driver")):
        told[call.tid].append(call)
    streams, calls = {}, 0
    for tid, true in truth.items():
        inside = [i for i, (c, _) in enumerate(true) if int(c["start_ns"]) > begin and int(c["end_ns"]) < end]
        if not told[tid]:
            if len(inside) > 1:
                fail(f"thread {tid}: none of {len(inside)} calls was told", true[inside[0]][0])
            continue
        first, last = compare_thread(tid, told[tid], true, streams)
        if inside and (first > inside[0] + 1 or last < inside[-1]):
            fail(f"thread {tid}: calls {first} to {last} of {inside[0]} to {inside[-1] + 1} were told")
        calls += len(told[tid])
    if not calls:
        fail("no call was told")
    kernels = collections.Counter(c.kernel.startswith("unnamed") for list_ in told.values() for c in list_ if c.kernel != "-")
    names = collections.Counter(c.name for list_ in told.values() for c in list_)
    print(f"compare: {calls} calls of {len(names)} functions as in the truth, on {len(streams)} streams, "
          f"{kernels[False]} kernels named, {kernels[True]} by their library")


main()
