// SPDX-License-Identifier: BSD-2-Clause
#include "capture/prune_policy.h"
#include "common/util.h"

#define HOT_PER_STEP 4
#define SHORT_FACTOR 10
#define CLIP_FACTOR  100

struct candidate {
	uint32_t row;
	double added_ns; /* per step */
	double worth;	 /* duration over cost */
};

static int by_worth(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->worth < y->worth ? -1 : x->worth > y->worth;
}

uint64_t prune__clip_ns(const struct prune_policy *policy)
{
	return CLIP_FACTOR * policy->hit_ns;
}

static struct candidate weigh(const struct prune_policy *policy, const struct prune_input *in)
{
	double spans = (double)in->stat.spans;
	double cost_ns = (double)policy->hit_ns * in->hits;
	double avg_ns =
		spans > 0 ? (double)in->stat.span_ns / spans - (double)policy->inside_ns : 0;

	return (struct candidate){
		.row = in->row,
		.added_ns = spans / policy->steps * cost_ns,
		.worth = avg_ns > 0 && cost_ns > 0 ? avg_ns / cost_ns : 0,
	};
}

static bool may_go(const struct prune_policy *policy, const struct prune_input *in,
		   const struct candidate *c)
{
	return !in->stays && in->stat.spans && !in->stat.launches &&
	       (double)in->stat.spans / policy->steps >= HOT_PER_STEP && c->worth < SHORT_FACTOR;
}

size_t prune__choose(const struct prune_policy *policy, const struct prune_input *in, size_t cnt,
		     bool *dropped)
{
	auto_free struct candidate *list = calloc(cnt ? cnt : 1, sizeof(*list));
	double added = 0, budget = policy->max_overhead * (double)policy->step_ns;
	size_t candidates = 0, chosen = 0, back = 0;

	if (!list || policy->steps <= 0)
		return 0;
	for (size_t i = 0; i < cnt; i++) {
		const struct candidate c = weigh(policy, &in[i]);

		added += c.added_ns;
		if (may_go(policy, &in[i], &c))
			list[candidates++] = c;
	}
	if (candidates)
		qsort(list, candidates, sizeof(*list), by_worth);
	for (size_t i = 0; i < candidates && added > budget; i++) {
		dropped[list[i].row] = true;
		added -= list[i].added_ns;
		chosen++;
	}
	/* The last one may have been large: what has room again stays, the most telling first. */
	for (size_t i = chosen; i-- > 0;) {
		if (!dropped[list[i].row] || added + list[i].added_ns > budget)
			continue;
		dropped[list[i].row] = false;
		added += list[i].added_ns;
		back++;
	}
	return chosen - back;
}
