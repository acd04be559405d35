// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watches processes through the doors of sched_source and task_source and prints what came out as
 * one JSON object. Steps are made here, so that a test knows where they are.
 *
 *	watch SECONDS STEP_MS PID...      STEP_MS 0: no steps
 *
 * With WATCH_SYSCALLS, WATCH_FAULTS in the environment system calls and page faults, too.
 */
#include "bpf/events.h"
#include "bpf/skeleton.h"
#include "capture/ring.h"
#include "capture/sched/sched_source.h"
#include "capture/sched/task_source.h"
#include "capture/sched/wait_reason.h"
#include "common/err.h"
#include "common/util.h"
#include "recording/event.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#define TICK_NS (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK))

static json_t *tasks;

static int task_take(void *ctx, void *data, size_t size)
{
	const struct pt_rec_task *r = data;

	if (r->h.kind == PT_REC_TASK)
		json_array_append_new(tasks,
				      json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:s}", "event", r->event,
						"pid", r->h.pid, "tid", r->h.tid, "parent",
						r->parent_pid, "exit_code", r->exit_code, "last",
						r->last, "comm", r->comm));
	return 0;
}

static int row_print(void *ctx, const struct sched_sum_row *row)
{
	static const char *const states[] = {"", "run", "runnable", "blocked", "call", "fault"};
	char buf[WAIT_REASON_MAX];
	const char *reason = row->state >= PT_ENTRY_SYSCALL
				     ? entry__text(row->state, row->reason, buf)
				     : wait_reason__text(row->reason, buf);
	json_int_t step = row->step == EVENT_NO_ID ? -1 : (json_int_t)row->step;

	return json_array_append_new(ctx, json_pack("{s:i,s:i,s:I,s:s,s:s,s:I,s:I,s:I,s:s}", "pid",
						    row->tgid, "tid", row->tid, "step", step,
						    "state", states[row->state], "reason",
						    reason ? reason : "", "ns", (json_int_t)row->ns,
						    "cpu_ns", (json_int_t)row->cpu_ns, "cnt",
						    (json_int_t)row->cnt, "comm", row->comm));
}

/* utime + stime of /proc/PID/stat. */
static uint64_t process_ns(const char *pid)
{
	char path[64];
	unsigned long user = 0, system = 0;
	auto_free char *text = NULL;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	text = file__read(path, NULL);
	if (text && strrchr(text, ')'))
		sscanf(strrchr(text, ')'), ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu",
		       &user, &system);
	return (user + system) * TICK_NS;
}

/* Busy and idle time from /proc/stat, as the Device table defines them. */
static void system_ns(uint64_t *busy, uint64_t *idle)
{
	unsigned long long v[8] = {0};
	auto_free char *text = file__read("/proc/stat", NULL);

	if (text)
		sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2],
		       &v[3], &v[4], &v[5], &v[6], &v[7]);
	*busy = (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) * TICK_NS;
	*idle = (v[3] + v[4]) * TICK_NS;
}

static int boundary(struct proftrace_bpf *skel, struct sched_source *sched, uint64_t step)
{
	struct pt_ctl *ctl = &skel->bss->ctl;
	uint64_t now = clock__monotonic_ns();

	ctl->step_ns[(ctl->step_seq + 1) % PT_STEP_RING] = now;
	__atomic_store_n(&ctl->step_seq, ctl->step_seq + 1, __ATOMIC_SEQ_CST);
	return sched_source__boundary(sched, now, step);
}

static int watch(struct proftrace_bpf *skel, struct sched_source *sched, double seconds,
		 uint64_t step_ms)
{
	struct pt_ctl *ctl = &skel->bss->ctl;
	uint64_t end, next_poll = 0, step = 0;
	int err = step_ms ? boundary(skel, sched, step++) : 0;

	ctl->window_open_ns =
		step_ms ? ctl->step_ns[ctl->step_seq % PT_STEP_RING] : clock__monotonic_ns();
	ctl->window_open = 1;
	end = ctl->window_open_ns + (uint64_t)(seconds * 1e9);
	while (!err && clock__monotonic_ns() < end) {
		usleep(step_ms ? step_ms * 1000 : 100000);
		if (step_ms)
			err = boundary(skel, sched, step++);
		if (!err && clock__monotonic_ns() > next_poll) {
			err = sched_source__poll(sched);
			next_poll = clock__monotonic_ns() + 500000000;
		}
	}
	ctl->window_close_ns = clock__monotonic_ns();
	ctl->window_open = 0;
	return err;
}

static json_t *costs(struct proftrace_bpf *skel)
{
	json_t *all = json_object();
	struct bpf_program *p;

	bpf_object__for_each_program(p, skel->obj)
	{
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);

		if (bpf_program__fd(p) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len) && info.run_cnt)
			json_object_set_new(all, bpf_program__name(p),
					    json_pack("{s:I,s:I,s:I}", "misses",
						      (json_int_t)info.recursion_misses, "run_cnt",
						      (json_int_t)info.run_cnt, "run_time_ns",
						      (json_int_t)info.run_time_ns));
	}
	return all;
}

static int run(struct proftrace_bpf *skel, int argc, char **argv)
{
	struct sched_source *sched = NULL;
	struct task_source *task = NULL;
	struct sched_totals totals;
	struct pt_ctl *ctl = &skel->bss->ctl;
	const struct ring_limits limits = {1 << 20, 1 << 20};
	struct ring *ring = NULL;
	json_t *rows = json_array(), *out;
	uint64_t proc[2], busy[2], idle[2];
	int err = ring__new(bpf_map__fd(skel->maps.ring), &limits, task_take, NULL, &ring);

	if (!err)
		err = task_source__start(skel, true, &task);
	if (!err)
		err = sched_source__start(skel, &sched);
	if (err)
		return err;
	proc[0] = process_ns(argv[3]);
	system_ns(&busy[0], &idle[0]);
	err = watch(skel, sched, strtod(argv[1], NULL), strtoull(argv[2], NULL, 10));
	proc[1] = process_ns(argv[3]);
	system_ns(&busy[1], &idle[1]);
	if (!err)
		err = sched_source__drain(sched, ctl->window_open_ns, ctl->window_close_ns,
					  row_print, rows, &totals);
	if (err)
		return err;
	ring__read(ring);
	out = json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:o,s:I,s:I}", "cpu", sched_totals__json(&totals),
			"rows", rows, "tasks", tasks, "proc_ns", (json_int_t)(proc[1] - proc[0]),
			"proc_busy_ns", (json_int_t)(busy[1] - busy[0]), "proc_idle_ns",
			(json_int_t)(idle[1] - idle[0]), "cost", costs(skel), "lost",
			(json_int_t)totals.lost, "missed", (json_int_t)totals.missed);
	json_dumpf(out, stdout, JSON_COMPACT);
	puts("");
	json_decref(out);
	sched_totals__free(&totals);
	sched_source__stop(sched);
	task_source__stop(task);
	ring__free(ring);
	return 0;
}

int main(int argc, char **argv)
{
	const struct sched_source_opts opts = {.syscalls = getenv("WATCH_SYSCALLS"),
					       .page_faults = getenv("WATCH_FAULTS")};
	struct proftrace_bpf *skel = proftrace_bpf__open();
	struct bpf_program *p;
	auto_close int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	int err;

	if (!skel || argc < 4)
		return 2;
	tasks = json_array();
	bpf_object__for_each_program(p, skel->obj) bpf_program__set_autoload(p, false);
	err = sched_source__prepare(skel, &opts);
	if (!err)
		err = task_source__prepare(skel);
	if (!err)
		err = proftrace_bpf__load(skel);
	for (int i = 3; i < argc && !err; i++) {
		uint32_t pid = strtoul(argv[i], NULL, 10), idx = i - 2;

		skel->bss->ctl.target_cnt = idx;
		err = bpf_map_update_elem(bpf_map__fd(skel->maps.targets), &pid, &idx, BPF_ANY);
	}
	if (!err)
		err = run(skel, argc, argv);
	proftrace_bpf__destroy(skel);
	if (err)
		fprintf(stderr, "watch: %s\n", err__take(err));
	return err ? 1 : 0;
}
