// SPDX-License-Identifier: BSD-2-Clause
/* Each step asks the kernel for memory that it had before, or reads pages of files. */
#include <string.h>
#include "analysis/findings/finding.h"
#include "common/util.h"

#define WORTH_SAYING 5.0 /* percent of the step */
#define FAULTS_OFTEN 8	 /* faults of a step; one may cover 2 MiB */

enum { ANONYMOUS, FROM_FILE, FROM_DISK, KINDS };
static const char *const names[KINDS] = {FAULT_ANONYMOUS, FAULT_FILE, FAULT_DISK};

struct faults {
	uint64_t ns[KINDS], cnt[KINDS];
	uint64_t gives_back; /* calls that give memory back to the kernel */
	bool has_calls;
};

static bool is_giving_back(const char *call)
{
	return !strcmp(call, "munmap") || !strcmp(call, "madvise") || !strcmp(call, "brk");
}

static void add(struct faults *f, const struct sched_row *row, const char *name)
{
	if (row->state == ENTRY_SYSCALL) {
		f->has_calls = true;
		f->gives_back += is_giving_back(name) ? row->cnt : 0;
	}
	for (int i = 0; i < KINDS && row->state == ENTRY_FAULT; i++)
		if (!strcmp(name, names[i])) {
			f->ns[i] += row->ns;
			f->cnt[i] += row->cnt;
		}
}

/* The training thread's faults in the recorded steps. */
static struct faults faults_of(const struct analysis *a)
{
	const struct sched_row *rows;
	const size_t cnt = recording__entries(a->r, &rows);
	struct faults f = {};

	for (size_t i = 0; i < cnt; i++)
		if (rows[i].track == a->step_track && analysis__has_step(a, rows[i].step))
			add(&f, &rows[i], analysis__name(a, rows[i].reason));
	return f;
}

static const char *const keep_memory =
	"keep memory: jemalloc or tcmalloc by LD_PRELOAD, larger MALLOC_TRIM_THRESHOLD_ and "
	"MALLOC_MMAP_THRESHOLD_, or reused buffers (out=, set_to_none=False)";

static double number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* Judges by the kernel's own count if --page-faults was not given. A huge page is one fault and
 * takes longer than assumed here. */
static int judge_counts(const struct analysis *a, struct finding *out)
{
	const json_t *counts = json_object_get(recording__summary(a->r), "faults");
	const double over_ns = number(counts, "over_ns"), cnt = number(counts, "minor");
	const double step_ns = (double)finding__per_step(a, a->steps.cpu.total);
	const double per_step = over_ns > 0 ? cnt * step_ns / over_ns : 0;
	const double ns = per_step * number(counts, "fault_ns");

	if (per_step < FAULTS_OFTEN || 100 * ns < WORTH_SAYING * step_ns)
		return 0;
	out->cost_ns = (uint64_t)ns;
	snprintf(out->what, sizeof(out->what),
		 "Page faults of the %s take about %.0f %% of the step: it uses memory that it did "
		 "not hold.",
		 finding__thread(a), 100 * ns / step_ns);
	snprintf(out->evidence, sizeof(out->evidence),
		 "%.0f per step (the kernel's count); at %.1f us each, as one of proftrace's own, "
		 "%s",
		 per_step, number(counts, "fault_ns") / 1e3, time_text(a, out->cost_ns).s);
	snprintf(out->next, sizeof(out->next), "%s; see `--page-faults`", keep_memory);
	return 1;
}

/* A thread may lose its processor during a page fault, so that time is taken off. */
static void take_ready_off(const struct analysis *a, struct faults *f)
{
	for (int i = 0; i < KINDS; i++)
		f->ns[i] = ready_time__off(a, f->ns[i]);
}

/* Did the recording watch page faults? */
static bool has_faults(const struct faults *f)
{
	return f->cnt[ANONYMOUS] || f->cnt[FROM_FILE] || f->cnt[FROM_DISK];
}

static int judge(const struct analysis *a, void *state, struct finding *out)
{
	struct faults f = faults_of(a);
	char calls[80] = "";
	int most = 0;

	if (!has_faults(&f))
		return judge_counts(a, out);
	take_ready_off(a, &f);
	for (int i = 1; i < KINDS; i++)
		if (f.ns[i] > f.ns[most])
			most = i;
	if (f.cnt[most] < FAULTS_OFTEN * a->steps.calls ||
	    finding__percent(a, f.ns[most]) < WORTH_SAYING)
		return 0;
	out->cost_ns = finding__per_step(a, f.ns[most]);
	if (most == ANONYMOUS && f.has_calls)
		snprintf(calls, sizeof(calls), ", and %.1f calls of munmap, madvise or brk",
			 (double)f.gives_back / (double)a->steps.calls);
	snprintf(out->what, sizeof(out->what),
		 "Page faults of the %s take %.0f %% of the step: %s.", finding__thread(a),
		 finding__percent(a, f.ns[most]),
		 most == ANONYMOUS ? "it uses memory that it did not hold"
				   : "it reads files that are mapped into memory");
	snprintf(out->evidence, sizeof(out->evidence), "%.0f of a step, %s, by %s%s",
		 (double)f.cnt[most] / (double)a->steps.calls, time_text(a, out->cost_ns).s,
		 most == ANONYMOUS ? "memory without a file" : names[most] + strlen("page fault: "),
		 calls);
	snprintf(out->next, sizeof(out->next), "%s",
		 most == ANONYMOUS ? keep_memory
		 : most == FROM_FILE
			 ? "read larger parts at once (read, MAP_POPULATE) in loader workers"
			 : "read ahead in loader workers, or keep the files in memory");
	return 1;
}

const struct finding_rule finding_page_faults = {
	.key = "page_faults",
	.of_host = true,
	.timer = true, /* the kernel counts page faults in each recording */
	.judge = judge,
};
