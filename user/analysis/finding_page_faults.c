// SPDX-License-Identifier: BSD-2-Clause
/* Each step asks the kernel for memory that it had before, or for pages of files. */
#include <string.h>
#include "analysis/findings.h"
#include "common/util.h"

#define WORTH_SAYING 5.0 /* percent of the step */
#define FAULTS_OFTEN 8	 /* of a step; one may take 2 MiB */

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

/* Of the training thread in the recorded steps. */
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

static int judge(const struct analysis *a, void *state, struct finding *out)
{
	const struct faults f = faults_of(a);
	char calls[80] = "";
	int most = 0;

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
		 "Page faults of the training thread take %.0f %% of the step: %s.",
		 finding__percent(a, f.ns[most]),
		 most == ANONYMOUS ? "it uses memory that it did not hold"
				   : "it reads files that are mapped into memory");
	snprintf(out->evidence, sizeof(out->evidence), "%.0f of a step, %s, by %s%s",
		 (double)f.cnt[most] / (double)a->steps.calls, time_text(a, out->cost_ns).s,
		 most == ANONYMOUS ? "memory without a file" : names[most] + strlen("page fault: "),
		 calls);
	snprintf(out->next, sizeof(out->next), "%s",
		 most == ANONYMOUS ? "keep what was allocated: jemalloc or tcmalloc by LD_PRELOAD, "
				     "or glibc with "
				     "MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_THRESHOLD_ larger "
				     "than the largest "
				     "tensors; reuse buffers (out=, set_to_none=False)"
		 : most == FROM_FILE
			 ? "read larger parts at once (read, MAP_POPULATE) in loader workers"
			 : "read ahead in loader workers, or keep the files in memory");
	return 1;
}

const struct finding_rule finding_page_faults = {
	.key = "page_faults",
	.judge = judge,
};
