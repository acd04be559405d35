// SPDX-License-Identifier: BSD-2-Clause
/* CPU utilisation of the whole machine, per core and per process. It needs no target. */
#include "bpf/skeleton.h"
#include "analysis/render/tables_print.h"
#include "attach/attach.h"
#include "capture/sched/sched_source.h"
#include "cli/cli.h"
#include "cli/raw_csv.h"
#include "common/counted.h"
#include "common/capability.h"
#include "common/capability_set.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include "privilege/rights.h"
#include "privilege/sandbox.h"
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

struct options {
	uint64_t duration_ns, interval_ns, top;
	int format; /* enum table_format */
	uint64_t width;
	bool raw_csv;
};

static const char *const formats[] = {"table", "json", "csv", NULL};

static const struct opt opts[] = {
	{OPT_DURATION, "duration", 'd', "TIME",
	 "How long to watch; Ctrl-C ends it earlier (default 5s).",
	 offsetof(struct options, duration_ns), .min = 1},
	{OPT_DURATION, "interval", 0, "TIME",
	 "Print a report for each interval too (default: only the one at the end).",
	 offsetof(struct options, interval_ns)},
	{OPT_UINT, "top", 0, "N", "How many processes to list; 0: all (default 20).",
	 offsetof(struct options, top)},
	{OPT_CHOICE, "format", 'f', "FORMAT", "How to print (default table).",
	 offsetof(struct options, format), .choices = formats},
	RAW_CSV_OPT(offsetof(struct options, raw_csv)),
	{OPT_UINT, "width", 0, "COLUMNS",
	 "Width of text, 40 or more (default: the terminal's; in a pipe that of COLUMNS; 0: "
	 "unlimited).",
	 offsetof(struct options, width), .min = WIDTH_MIN, .max = WIDTH_MAX, .zero = "unlimited"},
	{OPT_END},
};

struct process {
	uint32_t pid, last_tid;
	uint32_t thread_cnt;
	uint64_t run_ns, runnable_ns, switch_cnt;
	char comm[16];
};

struct usage {
	struct process *procs; /* sorted by pid while they are gathered */
	size_t cnt, cap;
	struct sched_totals cpu;
	char when[64]; /* added to titles, such as the interval; empty: the whole time */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = 1;
}

static int usage_row(void *ctx, const struct sched_sum_row *row)
{
	struct usage *u = ctx;
	struct process *p = u->cnt ? &u->procs[u->cnt - 1] : NULL;

	if (!p || p->pid != row->tgid) {
		struct process fresh = {.pid = row->tgid};
		int err = ARRAY_PUSH(u->procs, u->cnt, u->cap, fresh);

		if (err)
			return err;
		p = &u->procs[u->cnt - 1];
	}
	if (p->last_tid != row->tid)
		p->thread_cnt++;
	p->last_tid = row->tid;
	if (row->comm[0] && (!p->comm[0] || row->tid == row->tgid))
		memcpy(p->comm, row->comm, sizeof(p->comm));
	if (row->state == PT_SCHED_RUN) {
		p->run_ns += row->ns;
		p->switch_cnt += row->cnt;
	} else if (row->state == PT_SCHED_RUNNABLE) {
		p->runnable_ns += row->ns;
	}
	return 0;
}

static void usage_free(struct usage *u)
{
	free(u->procs);
	sched_totals__free(&u->cpu);
	memset(u, 0, sizeof(*u));
}

static int by_pid(const void *pa, const void *pb)
{
	const struct process *a = pa, *b = pb;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_run(const void *pa, const void *pb)
{
	const struct process *a = pa, *b = pb;

	if (a->run_ns != b->run_ns)
		return a->run_ns < b->run_ns ? 1 : -1;
	return by_pid(pa, pb);
}

static int procs_add(struct usage *sum, const struct usage *part)
{
	size_t known = sum->cnt;

	for (size_t i = 0; i < part->cnt; i++) {
		const struct process *from = &part->procs[i];
		struct process *to =
			known ? bsearch(from, sum->procs, known, sizeof(*from), by_pid) : NULL;

		if (!to) {
			int err = ARRAY_PUSH(sum->procs, sum->cnt, sum->cap, *from);

			if (err)
				return err;
			continue;
		}
		to->run_ns += from->run_ns;
		to->runnable_ns += from->runnable_ns;
		to->switch_cnt += from->switch_cnt;
		to->thread_cnt =
			to->thread_cnt > from->thread_cnt ? to->thread_cnt : from->thread_cnt;
		if (from->comm[0])
			memcpy(to->comm, from->comm, sizeof(to->comm));
	}
	if (sum->cnt)
		qsort(sum->procs, sum->cnt, sizeof(*sum->procs), by_pid);
	return 0;
}

static int usage_add(struct usage *sum, const struct usage *part)
{
	struct sched_totals *to = &sum->cpu;
	const struct sched_totals *from = &part->cpu;

	if (!to->per_cpu) {
		to->per_cpu = calloc(from->cpu_cnt, sizeof(*to->per_cpu));
		if (!to->per_cpu)
			return -ENOMEM;
		to->cpu_cnt = from->cpu_cnt;
	}
	to->wall_ns += from->wall_ns;
	to->process_ns += from->process_ns;
	to->busy_ns += from->busy_ns;
	to->idle_ns += from->idle_ns;
	to->lost = from->lost;
	to->missed = from->missed;
	for (uint32_t i = 0; i < to->cpu_cnt; i++) {
		to->per_cpu[i].cpu = from->per_cpu[i].cpu;
		to->per_cpu[i].busy_ns += from->per_cpu[i].busy_ns;
		to->per_cpu[i].idle_ns += from->per_cpu[i].idle_ns;
	}
	return procs_add(sum, part);
}

/* ---- tables ---- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static int columns_add(struct table *t, const struct column *columns, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = table__add_column(t, &columns[i]);
	return err;
}

static int cpu_row(struct table *t, const char *name, uint64_t busy_ns, uint64_t idle_ns)
{
	struct cell cells[] = {
		{.type = CELL_TEXT, .text = name},
		{.type = CELL_PERCENT, .number = percent(busy_ns, busy_ns + idle_ns)},
		{.type = CELL_TIME, .time_ns = busy_ns},
		{.type = CELL_TIME, .time_ns = idle_ns},
	};

	return table__add_row(t, 0, cells);
}

static struct table *usage_table(const char *key, const char *title, const struct usage *u)
{
	char text[128];

	snprintf(text, sizeof(text), "%s%s", title, u->when);
	return table__new(key, text);
}

static struct table *cpu_table(const struct usage *u)
{
	static const struct column columns[] = {
		{.key = "cpu", .title = "CPU"},
		{.key = "busy", .title = "Busy (%)"},
		{.key = "busy", .title = "Busy"},
		{.key = "idle", .title = "Idle"},
	};
	struct table *t = usage_table("cpu", "CPU Utilization", u);
	int err = t ? columns_add(t, columns, ARRAY_SIZE(columns)) : -ENOMEM;
	char text[64];

	if (!err)
		err = cpu_row(t, "all", u->cpu.busy_ns, u->cpu.idle_ns);
	for (uint32_t i = 0; i < u->cpu.cpu_cnt && !err; i++) {
		snprintf(text, sizeof(text), "%u", u->cpu.per_cpu[i].cpu);
		err = cpu_row(t, text, u->cpu.per_cpu[i].busy_ns, u->cpu.per_cpu[i].idle_ns);
	}
	snprintf(text, sizeof(text), "events lost: %llu, switches inferred: %llu",
		 (unsigned long long)u->cpu.lost, (unsigned long long)u->cpu.missed);
	if (!err)
		err = table__add_note(t, text);
	if (err) {
		table__free(t);
		return NULL;
	}
	return t;
}

/* Reads the name again if the process still exists, because an earlier sample may have been before
 * an exec. */
static void process_name(const struct process *p, char name[16])
{
	char path[32];
	auto_free char *text = NULL;

	snprintf(path, sizeof(path), "/proc/%u/comm", p->pid);
	text = file__read(path, NULL);
	snprintf(name, 16, "%.15s", text ? text : p->comm[0] ? p->comm : "?");
	name[strcspn(name, "\n")] = '\0';
}

static int process_row(struct table *t, const struct process *p, uint64_t wall_ns)
{
	char name[16];
	struct cell cells[] = {
		{.type = CELL_COUNT, .count = p->pid},
		{.type = CELL_TEXT, .text = name},
		{.type = CELL_COUNT, .count = p->thread_cnt},
		{.type = CELL_PERCENT, .number = percent(p->run_ns, wall_ns)},
		{.type = CELL_TIME, .time_ns = p->run_ns},
		{.type = CELL_TIME, .time_ns = p->runnable_ns},
		{.type = CELL_COUNT, .count = (int64_t)p->switch_cnt},
	};

	process_name(p, name);
	return table__add_row(t, 0, cells);
}

static struct table *process_table(struct usage *u, uint64_t top)
{
	static const struct column columns[] = {
		{.key = "pid", .title = "PID"},
		{.key = "command", .title = "Command"},
		{.key = "threads", .title = "Threads"},
		{.key = "cpu", .title = "CPU (%)"},
		{.key = "run", .title = "Run"},
		{.key = "runnable", .title = "Waiting for CPU"},
		{.key = "switches", .title = "Switches"},
	};
	struct table *t = usage_table("process", "CPU Utilization by Process", u);
	int err = t ? columns_add(t, columns, ARRAY_SIZE(columns)) : -ENOMEM;
	size_t shown = 0;
	char text[192];

	if (u->cnt)
		qsort(u->procs, u->cnt, sizeof(*u->procs), by_run);
	for (; shown < u->cnt && !err && (!top || shown < top) && u->procs[shown].run_ns; shown++)
		err = process_row(t, &u->procs[shown], u->cpu.wall_ns);
	snprintf(text, sizeof(text), "%zu of %s; CPU (%%) is of one CPU, so it may exceed 100",
		 shown, counted(u->cnt, "process", "processes").s);
	if (!err)
		err = table__add_note(t, text);
	if (err) {
		table__free(t);
		return NULL;
	}
	return t;
}

static int usage_print(struct usage *u, const struct options *o)
{
	struct table_style style = {
		.format = (enum table_format)o->format,
		.suits_unit = true,
		.width = (int)o->width,
		.colours = cli__colours(STDOUT_FILENO),
		.raw_csv = o->raw_csv,
	};
	struct table *tables[2] = {cpu_table(u), process_table(u, o->top)};
	int err = tables[0] && tables[1] ? tables__print(tables, 2, &style, stdout) : -ENOMEM;

	table__free(tables[0]);
	table__free(tables[1]);
	if (!err && fflush(stdout))
		err = err__unwritten("to standard output");
	return err;
}

/* ---- watching ---- */

static void sleep_until(uint64_t ns)
{
	const struct timespec ts = clock__own_monotonic(ns);

	while (!interrupted && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int interval_take(struct sched_source *s, const struct options *o, uint64_t open_ns,
			 uint64_t from_ns, uint64_t to_ns, struct usage *sum)
{
	struct usage part = {0};
	int err = sched_source__drain(s, from_ns, to_ns, usage_row, &part, &part.cpu);

	if (!err)
		err = usage_add(sum, &part);
	snprintf(part.when, sizeof(part.when), ", %.3f to %.3f s",
		 (double)(from_ns - open_ns) / 1e9, (double)(to_ns - open_ns) / 1e9);
	if (!err && o->interval_ns)
		err = usage_print(&part, o);
	usage_free(&part);
	return err;
}

static int watch(struct proftrace_bpf *skel, struct sched_source *s, const struct options *o)
{
	struct usage sum = {0};
	uint64_t open_ns = clock__monotonic_ns(), now = open_ns, end = open_ns + o->duration_ns;
	/* The longest time between two reads of the kernel's maps. */
	uint64_t every = o->interval_ns ? o->interval_ns : 1000000000;
	int err = 0;

	skel->bss->ctl.window_open_ns = open_ns;
	__atomic_store_n(&skel->bss->ctl.window_open, 1, __ATOMIC_SEQ_CST);
	while (!err && !interrupted && now < end) {
		uint64_t from = now, next = from + every;

		sleep_until(next < end ? next : end);
		now = clock__monotonic_ns();
		err = interval_take(s, o, open_ns, from, now, &sum);
	}
	/* If the only interval was the whole time, it has already been printed. */
	if (!err && !(o->interval_ns && o->interval_ns >= sum.cpu.wall_ns))
		err = usage_print(&sum, o);
	usage_free(&sum);
	return err;
}

/* NULL with *err set on failure. */
static struct proftrace_bpf *load(int *err)
{
	struct proftrace_bpf *skel;
	struct bpf_program *p;

	skel = proftrace_bpf__open();
	if (!skel) {
		*err = -errno;
		err__set(*err, MESSAGE_CPU_BPF_NOT_OPENED, attach__libbpf_error(*err));
		return NULL;
	}
	bpf_object__for_each_program(p, skel->obj) bpf_program__set_autoload(p, false);
	*err = sched_source__prepare(skel, &(struct sched_source_opts){.all = true});
	if (!*err) {
		*err = proftrace_bpf__load(skel);
		if (*err == -EPERM || *err == -EACCES)
			err__set(*err, MESSAGE_CPU_NOT_PERMITTED,
				 capability__why_refused(CAPABILITIES_TO_LOAD));
		else if (*err && !kernel__at_least(KERNEL_MAJOR_MIN, KERNEL_MINOR_MIN))
			err__set(*err, MESSAGE_CPU_KERNEL_TOO_OLD, attach__libbpf_error(*err),
				 KERNEL_MAJOR_MIN, KERNEL_MINOR_MIN);
		else if (*err)
			err__set(*err, MESSAGE_CPU_BPF_NOT_LOADED, attach__libbpf_error(*err));
	}
	if (!*err)
		return skel;
	proftrace_bpf__destroy(skel);
	return NULL;
}

/* Before Linux 5.19 (c8644cd0efe7) bpf(2) wanted this capability for all use of maps. */
static uint64_t needed_for_maps(void)
{
	const uint64_t by_name = capability_set__permitted() & CAPABILITY(CAP_BPF);

	if (kernel__at_least(5, 19))
		return 0;
	return by_name ? by_name : CAPABILITY(CAP_SYS_ADMIN); /* which includes it */
}

extern const struct command command_cpu;

static int run(int argc, char **argv)
{
	struct options o = {
		.duration_ns = 5000000000, .top = 20, .width = (uint64_t)cli__width(STDOUT_FILENO)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	struct proftrace_bpf *skel;
	struct sched_source *s = NULL;
	int rest, err = opts__parse(&command_cpu, argc, argv, &o, false, &rest);

	if (!err && rest < argc)
		err = err__set(-EINVAL, MESSAGE_CPU_ARGUMENT_UNEXPECTED, argv[rest]);
	if (err)
		return cli__fail(err);
	rights__cut(RIGHTS_TO_WATCH);
	skel = load(&err);
	if (!skel)
		return cli__fail(err);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	err = sched_source__start(skel, &s);
	/* From here on names of processes are read and printed, so rights are given up. */
	if (!err)
		err = sandbox__go_on(FILTER_MAPS, needed_for_maps());
	if (!err)
		err = watch(skel, s, &o);
	sched_source__stop(s);
	proftrace_bpf__destroy(skel);
	return err ? cli__fail(err) : 0;
}

const struct command command_cpu = {
	.name = "cpu",
	.usage = "[options]",
	.summary = "Prints how busy each CPU is, and with which processes.",
	.details = "Counts every switch in the kernel, so it does not miss short-lived processes. "
		   "It needs no target. Waiting for CPU is time in which a thread could have run "
		   "but had to wait for a processor.",
	.examples = "sudo proftrace cpu  # five seconds\n"
		    "sudo proftrace cpu --duration 1m --interval 10s --top 5  # a report each 10 "
		    "seconds, then one of the whole minute\n"
		    "sudo proftrace cpu --format csv > cpu.csv  # for a spreadsheet",
	.opts = opts,
	.run = run,
};
