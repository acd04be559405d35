// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/prune_policy.h"
#include "common/util.h"

#define CLIP_FACTOR	 100
#define HITS_OF_A_RETURN 2    /* it also traps at the entry */
#define HOOKS_MATTER	 0.02 /* fraction of the step */
#define FEW		 4    /* at most one call out of this many */
#define OFTEN		 0.3  /* a long call in this share of the steps is no accident */

/* A tier: which functions may be pruned. */
struct tier {
	double calls;	     /* fewest calls a step */
	double short_factor; /* a span lasts less than this many times the cost of its probes */
};

#define MODEST	   25
#define WHOLE_STEP 0.75 /* fraction of the calls of a whole step */
#define MUCH	   0.2	/* fraction of the step */

/* A step that was cut off when measuring began or ended lacks some of its calls. */
static const struct tier hot = {4, 10}, repeated = {2, MODEST}, once = {WHOLE_STEP, MODEST};

struct candidate {
	uint32_t row;
	double added_ns, length_ns; /* per step */
	double worth;		    /* duration over cost */
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

/* All calls were without a span, since their names are not shown (PT_CLASS_INTERNAL). */
static bool shows_nothing(const struct prune_input *in)
{
	return !in->stat.spans && in->stat.hits && in->has_names;
}

/* If each step has a long call, long calls count whole. If long calls are few, something else
 * interrupted them (a page fault, the machine's host). Then every call counts as long as the other
 * calls. */
uint64_t prune__typical_ns(const struct prune_policy *policy, const struct pt_probe_stat *stat)
{
	const uint64_t longs = stat->long_spans, rest = stat->spans - longs;
	const uint64_t clipped_ns = longs * prune__clip_ns(policy);

	if (!policy->by_time && (double)longs >= WHOLE_STEP * policy->steps)
		return stat->span_ns;
	if (longs * FEW >= stat->spans || clipped_ns > stat->clipped_ns)
		return stat->clipped_ns;
	return (uint64_t)((double)(stat->clipped_ns - clipped_ns) * (double)stat->spans /
			  (double)rest);
}

double prune__typical_share(const struct prune_policy *policy, const struct pt_probe_stat *stat)
{
	if (!policy->by_time && (double)stat->long_spans >= OFTEN * policy->steps)
		return 1;
	return stat->span_ns ? (double)prune__typical_ns(policy, stat) / (double)stat->span_ns : 1;
}

static struct candidate weigh(const struct prune_policy *policy, const struct prune_input *in)
{
	double spans = (double)in->stat.spans;
	double calls = shows_nothing(in) ? (double)in->stat.hits : spans;
	double hits = calls * in->hits + HITS_OF_A_RETURN * (double)in->stat.ends;
	double cost_ns = hits * (double)policy->hit_ns;
	double length_ns =
		(double)prune__typical_ns(policy, &in->stat) - spans * (double)policy->inside_ns;

	return (struct candidate){
		.row = in->row,
		.added_ns = cost_ns / policy->steps,
		.length_ns = length_ns > 0 ? length_ns / policy->steps : 0,
		.worth = length_ns > 0 && cost_ns > 0 ? length_ns / cost_ns : 0,
	};
}

static bool is_needed(const struct prune_input *in)
{
	return !shows_nothing(in) && (in->stays || !in->stat.spans || in->stat.launches);
}

/* Is the function not short, and a large part of the step? */
static bool tells_much(const struct prune_policy *policy, double length_ns, double cost_ns)
{
	return length_ns >= hot.short_factor * cost_ns &&
	       length_ns >= MUCH * (double)policy->step_ns;
}

static bool may_go(const struct prune_policy *policy, const struct prune_input *in,
		   const struct candidate *c, const struct tier *tier)
{
	if (shows_nothing(in))
		return true;
	return !is_needed(in) && (double)in->stat.spans / policy->steps >= tier->calls &&
	       c->worth < tier->short_factor && !tells_much(policy, c->length_ns, c->added_ns);
}

static double quarter_of_peer(const struct prune_policy *policy, const struct prune_input *in,
			      size_t cnt)
{
	double calls = 0;

	for (size_t i = 0; i < cnt; i++)
		calls += (double)in[i].stat.spans / policy->steps;
	return policy->peer_hits_per_call / 4 * calls * (double)policy->hit_ns;
}

/* Would the budget hold if all rows of the tier were pruned? The fixed cost of other probes does
 * not count. */
static bool is_enough(const struct prune_policy *policy, const struct prune_input *in, size_t cnt,
		      const struct tier *tier, double budget, const bool *pruned)
{
	double added = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct candidate c = weigh(policy, &in[i]);

		if (!pruned[in[i].row] && !may_go(policy, &in[i], &c, tier))
			added += c.added_ns;
	}
	return added <= budget + policy->other_ns;
}

/* Prunes until the rest adds no more than the budget. Returns how many rows were pruned. */
static size_t prune_tier(const struct prune_policy *policy, const struct prune_input *in,
			 size_t cnt, const struct tier *tier, double budget, bool *pruned)
{
	auto_free struct candidate *list = calloc(cnt ? cnt : 1, sizeof(*list));
	size_t candidates = 0, chosen = 0, back = 0;
	double added = 0;

	if (!list)
		return 0;
	for (size_t i = 0; i < cnt; i++) {
		const struct candidate c = weigh(policy, &in[i]);

		if (pruned[in[i].row])
			continue;
		added += c.added_ns;
		if (may_go(policy, &in[i], &c, tier))
			list[candidates++] = c;
	}
	if (candidates)
		qsort(list, candidates, sizeof(*list), by_worth);
	for (size_t i = 0; i < candidates && added > budget; i++) {
		pruned[list[i].row] = true;
		added -= list[i].added_ns;
		chosen++;
	}
	/* The last pruned row may have been large. Rows that fit into the budget again come back,
	 * the most informative first. */
	for (size_t i = chosen; i-- > 0;) {
		if (!pruned[list[i].row] || added + list[i].added_ns > budget)
			continue;
		pruned[list[i].row] = false;
		added += list[i].added_ns;
		back++;
	}
	return chosen - back;
}

static bool was_caller(const struct prune_input *in)
{
	return in->is_caller && in->stat.hits;
}

static bool is_called_by(const struct prune_input *in, const struct prune_input *caller,
			 const bool *pruned)
{
	return !pruned[in->row] && in->stat.callers >> caller->row % 64 & 1;
}

/* Sums the remaining callees of `caller`, and the hits by calls of its pruned callees. */
static struct called {
	double added_ns, orphans_ns, length_ns; /* per step */
	bool may_go;
} called_by(const struct prune_policy *policy, const struct prune_input *in, size_t cnt,
	    const struct prune_input *caller, const bool *pruned)
{
	struct called called = {.may_go = !(policy->callers >> caller->row % 64 & 1)};
	double orphans = (double)caller->stat.hits;

	for (size_t i = 0; i < cnt; i++) {
		const struct candidate c = weigh(policy, &in[i]);

		if (!is_called_by(&in[i], caller, pruned))
			continue;
		orphans -= (double)in[i].stat.ends;
		called.added_ns += c.added_ns;
		called.length_ns += c.length_ns;
		called.may_go &= !is_needed(&in[i]);
	}
	if (called.added_ns > 0 && orphans > 0)
		called.orphans_ns =
			orphans * HITS_OF_A_RETURN * (double)policy->hit_ns / policy->steps;
	return called;
}

static double added_in_all(const struct prune_policy *policy, const struct prune_input *in,
			   size_t cnt, const bool *pruned)
{
	double added = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (was_caller(&in[i]))
			added += called_by(policy, in, cnt, &in[i], pruned).orphans_ns;
		if (!pruned[in[i].row])
			added += weigh(policy, &in[i]).added_ns;
	}
	return added;
}

/* The probe of a caller is hit by calls of its pruned callees, too. Example: Tensor.__add__ calls
 * scale once and the pruned add forty times. */
static size_t prune_last_called(const struct prune_policy *policy, const struct prune_input *in,
				size_t cnt, double budget, bool *pruned)
{
	double added = added_in_all(policy, in, cnt, pruned);
	size_t chosen = 0;

	for (size_t i = 0; i < cnt && added > budget; i++) {
		struct called called;
		double cost_ns;

		if (!was_caller(&in[i]))
			continue;
		called = called_by(policy, in, cnt, &in[i], pruned);
		cost_ns = called.added_ns + called.orphans_ns;
		if (!called.may_go || called.orphans_ns <= 0 ||
		    called.length_ns >= MODEST * cost_ns ||
		    tells_much(policy, called.length_ns, cost_ns))
			continue;
		for (size_t k = 0; k < cnt; k++) {
			if (!is_called_by(&in[k], &in[i], pruned))
				continue;
			pruned[in[k].row] = true;
			chosen++;
		}
		added -= cost_ns;
	}
	return chosen;
}

/* A function that was not called while measured may be called later, after its caller was pruned.
 * Its span then ends at the thread's next event, and is marked so. A caller that was not called
 * costs nothing and stays. */
static size_t prune_callers(const struct prune_policy *policy, const struct prune_input *in,
			    size_t cnt, bool *pruned)
{
	uint64_t needed = policy->callers;
	size_t chosen = 0;

	for (size_t i = 0; i < cnt; i++)
		if (!pruned[in[i].row])
			needed |= in[i].stat.callers;
	for (size_t i = 0; i < cnt; i++) {
		if (!was_caller(&in[i]) || needed >> in[i].row % 64 & 1)
			continue;
		pruned[in[i].row] = true;
		chosen++;
	}
	return chosen;
}

size_t prune__choose(const struct prune_policy *policy, const struct prune_input *in, size_t cnt,
		     bool *pruned)
{
	double budget = policy->max_overhead * (double)policy->step_ns - policy->other_ns, quarter;
	size_t chosen;

	if (policy->steps <= 0)
		return 0;
	chosen = prune_tier(policy, in, cnt, &hot, budget, pruned);
	if (policy->peer_hits_per_call > 0) {
		quarter = quarter_of_peer(policy, in, cnt) - policy->other_ns;
		if (quarter > budget)
			budget = quarter;
		chosen += prune_tier(policy, in, cnt, &repeated, budget, pruned);
		if (is_enough(policy, in, cnt, &once, budget, pruned))
			chosen += prune_tier(policy, in, cnt, &once, budget, pruned);
	}
	chosen += prune_last_called(policy, in, cnt, budget, pruned);
	return chosen ? chosen + prune_callers(policy, in, cnt, pruned) : 0;
}

static bool is_short(const struct prune_policy *policy, const struct prune_input *in)
{
	return prune__typical_ns(policy, &in->stat) / in->stat.spans < prune__clip_ns(policy) / 2;
}

static uint64_t left_out_ns(const struct prune_policy *policy, const struct prune_input *in,
			    size_t cnt, const bool *pruned)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < cnt; i++)
		if (in[i].is_node && pruned[in[i].row])
			ns += prune__typical_ns(policy, &in[i].stat);
	return ns;
}

/* The node that is least informative. It is short, or shorter than all pruned nodes together. */
static const struct prune_input *next_node(const struct prune_policy *policy,
					   const struct prune_input *in, size_t cnt,
					   const bool *pruned)
{
	const uint64_t others_ns = left_out_ns(policy, in, cnt, pruned);
	const struct prune_input *next = NULL;

	for (size_t i = 0; i < cnt && others_ns; i++) {
		if (!in[i].is_node || in[i].stays || pruned[in[i].row] || !in[i].stat.spans ||
		    in[i].stat.launches)
			continue;
		if (!is_short(policy, &in[i]) &&
		    prune__typical_ns(policy, &in[i].stat) >= others_ns)
			continue;
		if (!next ||
		    prune__typical_ns(policy, &in[i].stat) < prune__typical_ns(policy, &next->stat))
			next = &in[i];
	}
	return next;
}

/* The probes of the types see a node only after its tensors' hooks have run. Do these hooks take
 * long? */
static bool hooks_matter(const struct prune_policy *policy, const struct prune_input *in,
			 size_t cnt)
{
	double ns = 0;

	for (size_t i = 0; i < cnt; i++)
		if (in[i].is_node)
			ns += (double)in[i].stat.before_ns -
			      (double)in[i].stat.spans * (double)policy->hit_ns;
	return ns > HOOKS_MATTER * (double)policy->step_ns * policy->steps;
}

static void keep_nodes(const struct prune_input *in, size_t cnt, bool *pruned)
{
	for (size_t i = 0; i < cnt; i++)
		pruned[in[i].row] &= !in[i].is_node;
}

void prune__nodes(const struct prune_policy *policy, const struct prune_input *in, size_t cnt,
		  bool *pruned)
{
	const struct prune_input *next;

	if (hooks_matter(policy, in, cnt)) {
		keep_nodes(in, cnt, pruned);
		return;
	}
	while ((next = next_node(policy, in, cnt, pruned)))
		pruned[next->row] = true;
}
