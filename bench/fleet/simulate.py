# SPDX-License-Identifier: BSD-2-Clause
"""A fleet's recordings with known truths, and what the queries must find in them.

Two recordings of tests/golden are varied by vary.c: a DDP rank on the CPU and a rank on the simulated GPU. A job has 4
hosts with a rank each, which are recorded once an hour. All numbers follow from the seed:
- a job has its own speed (0.5 to 2), a host +-1 %, a recording +-2 %;
- every second job changes from one version of the framework to another after half of its recordings;
- planted: straggler hosts (20 % less time in collectives), a kernel 60 % slower with the new version, jobs whose steps
  are 15 % longer with it, jobs whose loader takes 8 times as long, an earlier proftrace that costs 5 times as much,
  cores by job and so by team.
"""
import collections
import json
import os
import pathlib
import random
import statistics
import subprocess
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTS_PER_JOB = 4
STRAGGLERS, REGRESSED, LOADER_BOUND = 3, 2, 2
KERNEL = "sim_cudnn_conv_fprop"
VERSIONS = (("2.14.1+cu130", 130000), ("2.15.0+cu132", 130202))
TOOLS = (("0.1.0", 1), ("0.0.9", 5))  # version, factor of its cost
TEAMS = {5001: "vision", 5002: "speech", 5003: "ads", 5004: "search"}  # 5005 has no name
UIDS = (5001, 5001, 5001, 5002, 5002, 5003, 5004, 5005)
BEGIN_NS = 1_790_000_000 * 10**9
HOUR_NS = 3600 * 10**9

Planted = collections.namedtuple("Planted", "stragglers regressed loader_bound upgraded_gpu cores versions")


def proftrace(*args):
    return subprocess.run([os.environ["PROFTRACE"], *map(str, args)], check=True, stdout=subprocess.PIPE).stdout


def events(path):
    """The head and the events of an export."""
    lines = proftrace("export", "-q", "-f", "jsonl", "-o", "-", path).splitlines()
    return json.loads(lines[0]), [json.loads(line) for line in lines[1:-1]]


def build_vary(folder):
    binary = folder / "vary"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libzstd", "zlib", "jansson"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    sources = [ROOT / "bench/fleet/vary.c", *ROOT.glob("user/recording/*.c"), *ROOT.glob("user/common/*.c")]
    subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror",
                    "-Wno-unused-parameter", f"-I{ROOT / 'user'}", *sources, "-o", binary, *flags, "-lm"], check=True)
    return binary


def plant(jobs, chance):
    cpu = [job for job in range(jobs) if job % 3 != 2]
    straggling = chance.sample(cpu, STRAGGLERS)
    loader_bound = chance.sample([job for job in cpu if job not in straggling], LOADER_BOUND)
    return Planted(
        stragglers={(job, chance.randrange(HOSTS_PER_JOB)) for job in straggling},
        regressed=set(chance.sample([job for job in cpu if job % 2 == 0], REGRESSED)),
        loader_bound=set(loader_bound),
        upgraded_gpu={job for job in range(jobs) if job % 6 == 2},
        cores={job: round(chance.uniform(0.3, 8), 3) for job in range(jobs)},
        versions={job: job // 2 % 2 for job in range(jobs)})  # of jobs that keep theirs


def job_name(job):
    return f"job{job:04}"


def host_name(job, host):
    return f"host{job * HOSTS_PER_JOB + host:04}"


def order(template, head, folder, planted, job, host, window, windows, speed, chance):
    """What vary.c makes of a template."""
    gpu = job % 3 == 2
    later = window >= windows // 2
    new = later if job % 2 == 0 else planted.versions[job]
    framework, cupti = VERSIONS[new]
    tool, cost = TOOLS[job % 5 == 0]
    restarted = later and job % 2 == 0
    pid = 4000 + job % 1000 + restarted
    begin_ns = BEGIN_NS + window * HOUR_NS
    base_ns = head["summary"]["windows"][0]["begin_ns"]
    monotonic_ns = head["meta"]["clock"]["monotonic_ns"]
    wall_ns = head["summary"]["cpu"]["wall_ns"]
    factor = speed * chance.gauss(1, 0.02) * (1.15 if job in planted.regressed and later else 1)
    made = {
        "in": str(template),
        "out": str(folder / host_name(job, host) / f"{job_name(job)}_{pid}_6ab00000.{window}.ptrec"),
        "time": factor,
        "meta": {
            "tool": {"version": tool}, "host": {"name": host_name(job, host), "kernel": "6.1.0"},
            "process": {"pid": pid, "uid": UIDS[job % len(UIDS)], "start_time_ticks": 1000 + restarted},
            "rank": {"rank": host, "world_size": HOSTS_PER_JOB}, "runtime": {"version": framework},
            "clock": {"realtime_ns": begin_ns - base_ns + monotonic_ns}},
        "summary": {
            "cpu": {"process_ns": round(wall_ns * planted.cores[job])},
            "cost": {"probe_ns": round(head["summary"]["cost"]["probe_ns"] * factor * cost)}}}
    if gpu:
        made["summary"]["device"] = {"cupti_version": cupti}
        if new:
            made["kernel"] = [KERNEL, 1.6]
    if (job, host) in planted.stragglers:
        made["collective"] = 0.8
    if job in planted.loader_bound:
        made["loader"] = 8
    return made


def make(folder, hosts, windows, seed=1):
    """Writes the recordings below folder. Returns what is planted, and the orders."""
    chance = random.Random(seed)
    jobs = hosts // HOSTS_PER_JOB
    planted = plant(jobs, chance)
    templates = [ROOT / "tests/golden" / f"{name}.ptrec" for name in ("ddp0", "simgpu")]
    heads = [events(template)[0] for template in templates]
    orders = []
    for job in range(jobs):
        speed = chance.uniform(0.5, 2)
        kind = job % 3 == 2
        for host in range(HOSTS_PER_JOB):
            (folder / host_name(job, host)).mkdir(parents=True)
            own = speed * chance.uniform(0.99, 1.01)
            orders += [order(templates[kind], heads[kind], folder, planted, job, host, window, windows, own, chance)
                       for window in range(windows)]
    subprocess.run([build_vary(folder)], check=True, text=True, input="".join(json.dumps(o) + "\n" for o in orders))
    return planted, orders


def damage(folder, orders):
    """Adds recordings that cannot be read, and one that was cut off. Returns the paths of the former."""
    whole = pathlib.Path(orders[0]["out"]).read_bytes()
    newer = whole[:8] + b"\x63" + whole[9:20]
    newer += zlib.crc32(newer).to_bytes(4, "little") + whole[24:]
    names = {"garbage": random.Random(3).randbytes(20_000), "empty": b"", "newer": newer}
    for name, data in names.items():
        (folder / f"{name}.ptrec").write_bytes(data)
    (folder / "cut.ptrec").write_bytes(whole[:len(whole) * 2 // 3])
    return {str(folder / f"{name}.ptrec") for name in names}


# ---- what the queries must find ----

def same(got, want, what):
    assert got == want, f"{what}: {got!r}, not {want!r}"


def near(got, want, what, share=1e-6):
    assert abs(got - want) <= share * abs(want), f"{what}: {got!r}, not {want!r}"


def table(db, name):
    result = db.execute(f"SELECT * FROM {name}")
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row)) for row in result.fetchall()]


def asked(fleet, db, name):
    columns, rows = fleet.query(db, name)
    return [dict(zip(columns, row)) for row in rows]


def grouped(rows, *keys):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def check_stragglers(found, rows, planted):
    same({(row["job"], row["host"]) for row in found},
         {(job_name(job), host_name(job, host)) for job, host in planted.stragglers}, "straggler hosts")
    own = {key: statistics.median(row["step_mean_ns"] - (row["collective_ns"] or 0) for row in group)
           for key, group in grouped(rows, "job", "host").items()}
    for row in found:
        usual = statistics.median(ns for (job, _), ns in own.items() if job == row["job"])
        near(row["ratio"], own[row["job"], row["host"]] / usual, "a straggler's ratio")


def check_kernels(found, rows, kernels, planted):
    same([(row["name"], row["framework_version"], row["cupti_version"], row["jobs"]) for row in found],
         [(KERNEL, *VERSIONS[1], len(planted.upgraded_gpu))], "slow kernels")
    by_id = {row["recording_id"]: row for row in rows}
    averages = collections.defaultdict(lambda: [0, 0])
    for kernel in kernels:
        recording = by_id.get(kernel["recording_id"])
        if recording and kernel["name"] == KERNEL:
            total = averages[recording["job"], recording["framework_version"]]
            total[0] += kernel["gpu_total_ns"]
            total[1] += kernel["calls"]
    ratios = []
    for job in planted.upgraded_gpu:
        old, new = (averages[job_name(job), version] for version, _ in VERSIONS)
        ratios.append(new[0] / new[1] / (old[0] / old[1]))
    near(found[0]["ratio"], statistics.median(ratios), "the kernel's ratio")
    near(found[0]["ratio"], 1.6, "the planted ratio", 0.03)


def check_loader(found, rows, planted):
    same({row["job"] for row in found}, {job_name(job) for job in planted.loader_bound}, "jobs that wait for data")
    for row in found:
        group = [r for r in rows if r["job"] == row["job"]]
        loading = sum(r["loader_ns"] * r["steps"] for r in group)
        near(row["loader_percent"], 100 * loading / sum(r["step_mean_ns"] * r["steps"] for r in group), "their share")


def check_regressions(found, rows, planted):
    same({row["job"] for row in found}, {job_name(job) for job in planted.regressed}, "regressions")
    medians = {key: statistics.median(row["step_mean_ns"] for row in group)
               for key, group in grouped(rows, "job", "framework_version").items()}
    for row in found:
        same((row["version_before"], row["framework_version"]), (VERSIONS[0][0], VERSIONS[1][0]), "versions")
        near(row["ratio"], medians[row["job"], VERSIONS[1][0]] / medians[row["job"], VERSIONS[0][0]], "a regression")


def check_cost(found, planted, orders):
    """By the orders alone: hours between the first and the last recording of a process, times its cores."""
    cores, gpus = collections.Counter(), collections.Counter()
    processes = collections.defaultdict(list)
    for made in orders:
        processes[made["meta"]["host"]["name"], made["meta"]["process"]["pid"]].append(made)
    for group in processes.values():
        uid = group[0]["meta"]["process"]["uid"]
        team = TEAMS.get(uid, f"uid {uid}")
        job = int(pathlib.Path(group[0]["out"]).name[3:7])
        cores[team] += (len(group) - 1) * planted.cores[job]
        gpus[team] += (len(group) - 1) * (job % 3 == 2)
    same({row["team"] for row in found}, set(cores), "teams")
    for row in found:
        # A window lasts milliseconds of an hour.
        near(row["core_hours"], cores[row["team"]], f"core hours of {row['team']}", 1e-3)
        near(row["core_percent"], 100 * cores[row["team"]] / sum(cores.values()), f"share of {row['team']}", 1e-3)
        near(row["gpu_hours"], gpus[row["team"]], f"GPU hours of {row['team']}", 1e-3)


def check_own_cost(found, rows):
    groups = grouped(rows, "proftrace_version", "detail")
    same({(row["proftrace_version"], row["detail"]) for row in found}, set(groups), "versions of proftrace")
    for row in found:
        group = groups[row["proftrace_version"], row["detail"]]
        same(row["recordings"], len(group), "recordings")
        near(row["added_percent_median"], statistics.median(r["added_percent"] for r in group if r["added_percent"]
                                                             is not None), "proftrace's cost")
    same(found[0]["proftrace_version"], TOOLS[1][0], "the version that costs most")


def check(fleet, db, planted, orders):
    """Each query finds what is planted and nothing else, with the numbers that plain Python finds."""
    rows = table(db, "recording")
    whole = [row for row in rows if row["incomplete"] is None]
    check_stragglers(asked(fleet, db, "straggler_hosts"), whole, planted)
    check_kernels(asked(fleet, db, "slow_kernels"), whole, table(db, "kernel"), planted)
    check_loader(asked(fleet, db, "loader_bound"), whole, planted)
    check_regressions(asked(fleet, db, "regressions"), whole, planted)
    check_cost(asked(fleet, db, "cost_by_team"), planted, orders)
    check_own_cost(asked(fleet, db, "own_cost"), rows)


def check_rows(db, orders):
    """Rows of recordings, from their events and without a table of proftrace."""
    rows = {row["path"]: row for row in table(db, "recording")}
    kernels = grouped(table(db, "kernel"), "recording_id")
    for made in orders:
        row, (head, lines) = rows[made["out"]], events(made["out"])
        steps = sorted(line["cpu_ns"] for line in lines if line["type"] == "step")
        same(row["steps"], len(steps), "steps")
        near(row["step_mean_ns"], statistics.mean(steps), "mean step")
        near(row["step_median_ns"], statistics.median(steps), "median step")
        near(row["added_per_step_ns"], made["summary"]["cost"]["probe_ns"] / len(steps), "proftrace's cost", 1e-4)
        same((row["host"], row["uid"], row["framework_version"], row["job"]),
             (head["meta"]["host"]["name"], made["meta"]["process"]["uid"], made["meta"]["runtime"]["version"],
              pathlib.Path(made["out"]).name.split("_")[0]), "whose it is")
        near(row["begin_ns"], BEGIN_NS + int(made["out"].split(".")[-2]) * HOUR_NS, "begin", 1e-12)
        device = [line for line in lines if line["type"] == "device" and line["category"] == "kernel"]
        want = collections.Counter()
        for line in device:
            want[line["name"]] += line["dur_ns"]
        same({k["name"]: k["gpu_total_ns"] for k in kernels[row["recording_id"],]}, dict(want), "kernels")
        if not device:
            spans = [line["dur_ns"] for line in lines if line.get("category") == "communication"]
            near(row["collective_ns"], sum(spans) / len(steps), "time in collectives", 1e-3)
