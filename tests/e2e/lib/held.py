"""Measures what a process and its children hold: memory and BPF maps. Also how often they woke."""
import os
import pathlib
import re
import time


def lines(path):
    try:
        return pathlib.Path(path).read_text().split("\n")
    except OSError:
        return []


def fields(path):
    """Returns the fields of a /proc file with `Name: value` lines."""
    return dict(line.split(":", 1) for line in lines(path) if ":" in line)


def number(fields, name):
    return int(fields.get(name, "0").split()[0])


def processes(pid):
    """Returns the process and its children."""
    found = [pid]
    for of in found:
        for task in pathlib.Path(f"/proc/{of}/task").glob("*/children"):
            found += map(int, " ".join(lines(task)).split())
    return found


def maps(pid):
    """Returns the bytes of each BPF map that the process holds, by id. A map shared with others counts once."""
    held = {}
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").glob("*"):
        of = fields(info)
        if "map_id" in of:
            held[int(of["map_id"])] = (int(of["memlock"]), int(of["map_type"]), int(of["max_entries"]))
    return held


def programs(pid):
    """Instructions that the kernel verified of each BPF program that the process holds, by id; Linux 5.16 and later."""
    infos = map(fields, pathlib.Path(f"/proc/{pid}/fdinfo").glob("*"))
    return {int(of["prog_id"]): number(of, "verified_insns") for of in infos if "prog_id" in of}


def switches(pid):
    """Returns how often its threads went to sleep."""
    return sum(number(fields(task), "voluntary_ctxt_switches") for task in pathlib.Path(f"/proc/{pid}/task").glob("*/status"))


def cpu_s(pid):
    stat = lines(f"/proc/{pid}/stat")
    ticks = stat[0].rsplit(")", 1)[1].split()[11:15] if stat else [0]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


class Held:
    """A measurement at one moment. It includes the process's children unless `alone`."""

    def __init__(self, pid, alone=False):
        self.at, self.pids = time.monotonic(), [pid] if alone else processes(pid)
        status = [fields(f"/proc/{p}/status") for p in self.pids]
        self.anon, self.file, self.rss = (sum(number(s, name) for s in status) << 10
                                          for name in ("RssAnon", "RssFile", "VmRSS"))
        self.shmem = sum(number(s, "RssShmem") for s in status) << 10
        self.maps = {}
        for p in self.pids:
            self.maps.update(maps(p))
        self.memlock = sum(memlock for memlock, _, _ in self.maps.values())
        self.switches = sum(map(switches, self.pids))
        self.cpu_s = sum(map(cpu_s, self.pids))

    def wakeups_since(self, before):
        return (self.switches - before.switches) / (self.at - before.at)


def wakeups(pid):
    """Returns the wakeups per second, the fewest of some spans, because each new session on the machine asks all
    others."""
    moments = [Held(pid)]
    for _ in range(4):
        time.sleep(3)
        moments.append(Held(pid))
    return min(after.wakeups_since(before) for before, after in zip(moments, moments[1:]))


def files(pid):
    """Resident bytes of each mapped file."""
    sums, name = {}, None
    for line in lines(f"/proc/{pid}/smaps"):
        head = re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)", line)
        if head:
            name = head[1] or "[anonymous]"
        elif line.startswith("Rss:"):
            sums[name] = sums.get(name, 0) + (int(line.split()[1]) << 10)
    return sorted(sums.items(), key=lambda item: -item[1])
