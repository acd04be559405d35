// SPDX-License-Identifier: BSD-2-Clause
/* The host waits for the device, more often than once for the step's result. */
#include "analysis/findings/findings.h"
#include <string.h>

#define WORTH_SAYING 3.0 /* percent of the step that goes to waiting */

struct syncs {
	struct by_operator by;
	uint64_t cnt, ns;
};

bool span__is_wait(const struct analysis *a, const struct span *s)
{
	return s->kind == KIND_RUNTIME && strstr(analysis__name(a, s->ev.name), "Synchronize");
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct syncs *y = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		if (!analysis__is_main(a, b->tracks[i].track))
			continue;
		for (const struct span *s = b->tracks[i].roots; s && !err;
		     s = span__next(s, NULL)) {
			if (!span__is_wait(a, s))
				continue;
			y->cnt++;
			y->ns += s->cpu_ns;
			err = by_operator__add(a, &y->by, s, s->cpu_ns);
		}
	}
	return err;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct syncs *y = state;
	struct top_operator top;

	if (!by_operator__top(a, &y->by, &top) || y->cnt < WAITS_OFTEN * a->steps.calls ||
	    finding__percent(a, y->ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, y->ns);
	snprintf(f->what, sizeof(f->what), "The host waits for the device %.1f times a step.",
		 (double)y->cnt / (double)a->steps.calls);
	snprintf(f->evidence, sizeof(f->evidence),
		 "%s of a step in calls that synchronize; most in %s "
		 "(%.1f a step)",
		 time_text(a, f->cost_ns).s, top.text, (double)top.calls / (double)a->steps.calls);
	snprintf(
		f->next, sizeof(f->next),
		"read results (item, cpu, print, comparisons of device values) every N steps, copy "
		"with non_blocking from pinned memory, and keep conditions on the device");
	return 1;
}

static void clean(void *state)
{
	stat_map__free(&((struct syncs *)state)->by.map);
}

const struct finding_rule finding_sync = {
	.key = "synchronization",
	.rests_on_device = true,
	.state_size = sizeof(struct syncs),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
