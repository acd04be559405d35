// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/thread_times.h"

/* The cost of the steps' probes on their thread. The steps' times exclude it, but the thread's run
 * time does not. */
static uint64_t probes_ns(const struct analysis *a, uint32_t track)
{
	return track == a->step_track && a->steps.calls ? a->model.subtracted_ns : 0;
}

bool thread_times__of(const struct analysis *a, uint32_t track, struct thread_times *out)
{
	const struct sched_row *rows;
	size_t cnt = recording__sched(a->r, &rows);
	uint64_t of_probes;

	*out = (struct thread_times){0};
	for (size_t i = 0; i < cnt; i++) {
		const struct sched_row *r = &rows[i];

		if (r->track != track || !analysis__has_step(a, r->step))
			continue;
		if (r->state == SCHED_RUN)
			out->run_ns += r->ns;
		else if (r->state == SCHED_RUNNABLE)
			out->runnable_ns += r->ns;
		else
			out->blocked_ns += r->ns;
	}
	of_probes = probes_ns(a, track);
	out->run_ns -= of_probes < out->run_ns ? of_probes : out->run_ns;
	return out->run_ns || out->runnable_ns || out->blocked_ns;
}

uint32_t thread_wait__longest(const struct analysis *a, uint32_t track, uint64_t *ns)
{
	const struct sched_row *rows;
	const size_t cnt = recording__sched(a->r, &rows);
	struct stat_map sums = {};
	uint32_t longest = 0;

	*ns = 0;
	for (size_t i = 0; i < cnt; i++) {
		const struct stat_key key = {.id = rows[i].reason};
		struct stat *sum;

		if (rows[i].track != track || rows[i].state != SCHED_BLOCKED || !key.id ||
		    !analysis__has_step(a, rows[i].step))
			continue;
		sum = stat_map__at(&sums, &key);
		if (!sum)
			break;
		stat__add(sum, rows[i].ns, 0);
		if (sum->cpu.total > *ns) {
			*ns = sum->cpu.total;
			longest = key.id;
		}
	}
	stat_map__free(&sums);
	return longest;
}
