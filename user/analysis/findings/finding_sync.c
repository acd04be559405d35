// SPDX-License-Identifier: BSD-2-Clause
/*
 * The host waits for the device more often than once for the step's result. A fix saves at most the
 * device's idle time, because waits for a busy device only move.
 */
#include "analysis/findings/by_operator.h"
#include "analysis/findings/call_time.h"
#include "analysis/findings/device_idle.h"
#include "analysis/findings/finding.h"
#include "analysis/findings/host_waits.h"

#define WORTH_SAYING 3.0 /* percent of the step that goes to waiting */

struct syncs {
	struct by_operator by;
	uint64_t cnt;
	struct call_time time;
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct syncs *y = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		if (!host_waits__are_users(a, b->step, b->tracks[i].track))
			continue;
		for (const struct span *s = b->tracks[i].roots; s && !err;
		     s = span__next(s, NULL)) {
			if (!span__is_wait(a, s))
				continue;
			y->cnt++;
			err = call_time__add(a, &y->time, s);
			if (!err)
				err = by_operator__add(a, &y->by, s, s->cpu_ns);
		}
	}
	return err;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	struct syncs *y = state;
	const uint64_t ns = call_time__ns(a, &y->time), idle_ns = device_idle__ns(a);
	const uint64_t saved_ns = ns < idle_ns ? ns : idle_ns;
	struct top_operator top;

	if (!by_operator__top(a, &y->by, &top) || y->cnt < WAITS_OFTEN * a->steps.calls ||
	    finding__percent(a, saved_ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, saved_ns);
	snprintf(f->what, sizeof(f->what), "The host waits for the device %.1f times a step.",
		 (double)y->cnt / (double)a->steps.calls);
	snprintf(f->evidence, sizeof(f->evidence),
		 "%s of a step in calls that synchronize; most in %s "
		 "(%.1f a step)",
		 time_text(a, finding__per_step(a, ns)).s, top.text,
		 (double)top.calls / (double)a->steps.calls);
	snprintf(
		f->next, sizeof(f->next),
		"read results (item, cpu, print, comparisons of device values) every N steps, copy "
		"with non_blocking from pinned memory, and keep conditions on the device");
	return 1;
}

static void clean(void *state)
{
	struct syncs *y = state;

	stat_map__free(&y->by.map);
	call_time__free(&y->time);
}

const struct finding_rule finding_sync = {
	.key = "synchronization",
	.of_host = true,
	.rests_on_device = true,
	.state_size = sizeof(struct syncs),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
