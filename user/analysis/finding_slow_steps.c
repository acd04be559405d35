// SPDX-License-Identifier: BSD-2-Clause
/* Some steps take much longer than most, and what is longer in them. */
#include "analysis/findings.h"
#include <stdlib.h>
#include "analysis/step_parts.h"
#include "common/counted.h"
#include "common/util.h"

#define FEWEST	     8	 /* steps, for a median to mean something */
#define MOST	     3	 /* of so many steps one may be slow: what is more frequent is usual */
#define WORTH_SAYING 5.0 /* percent of all steps' time that is above the median */

struct slow_steps {
	struct step *items;
	size_t cnt, cap;
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct slow_steps *s = state;

	return ARRAY_PUSH(s->items, s->cnt, s->cap, *b->step);
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	const struct slow_steps *s = state;
	const struct step *worst = NULL;
	uint64_t middle, excess = 0, part_excess = 0;
	enum span_kind part = KIND_OTHER;
	size_t slow_cnt = 0;

	if (s->cnt < FEWEST)
		return 0;
	if (steps__median(s->items, s->cnt, STEP_WHOLE, &middle))
		return -ENOMEM;
	for (size_t i = 0; i < s->cnt; i++) {
		if ((double)s->items[i].cpu_ns <= STEP_SLOW * (double)middle)
			continue;
		slow_cnt++;
		excess += s->items[i].cpu_ns - middle;
		if (!worst || s->items[i].cpu_ns > worst->cpu_ns)
			worst = &s->items[i];
	}
	if (!worst || slow_cnt * MOST > s->cnt || finding__percent(a, excess) < WORTH_SAYING)
		return 0;
	for (size_t p = 0; p < STEP_PARTS; p++) {
		uint64_t usual, sum = 0;

		if (steps__median(s->items, s->cnt, (int)step_parts[p].kind, &usual))
			return -ENOMEM;
		for (size_t i = 0; i < s->cnt; i++)
			if ((double)s->items[i].cpu_ns > STEP_SLOW * (double)middle)
				sum += more(s->items[i].phase_ns[step_parts[p].kind], usual);
		if (sum > part_excess) {
			part_excess = sum;
			part = step_parts[p].kind;
		}
	}
	f->cost_ns = finding__per_step(a, excess);
	snprintf(f->what, sizeof(f->what), "%zu of %zu steps %s more than %.1f times the median.",
		 slow_cnt, s->cnt, slow_cnt == 1 ? "takes" : "take", STEP_SLOW);
	snprintf(f->evidence, sizeof(f->evidence),
		 "median %s, step %llu %s; %.0f %% of the surplus lies in %s",
		 time_text(a, middle).s, (unsigned long long)worst->index,
		 time_text(a, worst->cpu_ns).s,
		 excess ? 100.0 * (double)(part_excess < excess ? part_excess : excess) /
				  (double)excess
			: 0,
		 part == KIND_OTHER ? "none of the phases (Others)" : span_kind__label(part));
	snprintf(f->next, sizeof(f->next),
		 "`--table steps` marks them; compare one with its neighbour in the trace. What "
		 "comes "
		 "every N steps may be logging, checkpoints, evaluation or garbage collection");
	return 1;
}

static void clean(void *state)
{
	free(((struct slow_steps *)state)->items);
}

const struct finding_rule finding_slow_steps = {
	.key = "slow_steps",
	.state_size = sizeof(struct slow_steps),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};
