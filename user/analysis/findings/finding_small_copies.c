// SPDX-License-Identifier: BSD-2-Clause
/* Many small copies between host and device: each costs a call, whatever its size. */
#include "analysis/findings/by_operator.h"
#include "analysis/findings/call_time.h"
#include "analysis/findings/finding.h"

#define SMALL	     4096 /* bytes */
#define OFTEN	     16	  /* a step */
#define WORTH_SAYING 2.0  /* percent of the step that the calls take */

struct copies {
	struct by_operator by;
	uint64_t cnt;
	struct call_time time;
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct copies *c = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		if (b->tracks[i].track->kind != TRACK_DEVICE)
			continue;
		for (const struct span *s = b->tracks[i].roots; s && !err; s = s->next_sibling) {
			if (s->kind != KIND_MEMCPY || s->ev.value > SMALL || !s->launch)
				continue;
			c->cnt++;
			err = call_time__add(a, &c->time, s->launch);
			if (!err)
				err = by_operator__add(a, &c->by, s->launch, s->launch->cpu_ns);
		}
	}
	return err;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	struct copies *c = state;
	const uint64_t ns = call_time__ns(a, &c->time);
	struct top_operator top;

	if (!by_operator__top(a, &c->by, &top) || c->cnt < OFTEN * a->steps.calls ||
	    finding__percent(a, ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, ns);
	snprintf(f->what, sizeof(f->what), "%.0f copies a step move %d bytes or less each.",
		 (double)c->cnt / (double)a->steps.calls, SMALL);
	snprintf(f->evidence, sizeof(f->evidence),
		 "their calls take %s of a step; most in %s (%.1f a "
		 "step)",
		 time_text(a, f->cost_ns).s, top.text, (double)top.calls / (double)a->steps.calls);
	snprintf(f->next, sizeof(f->next),
		 "make scalars and index tensors on the device, or gather them into one copy");
	return 1;
}

static void clean(void *state)
{
	struct copies *c = state;

	stat_map__free(&c->by.map);
	call_time__free(&c->time);
}

const struct finding_rule finding_small_copies = {
	.key = "small_copies",
	.rests_on_device = true,
	.state_size = sizeof(struct copies),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
