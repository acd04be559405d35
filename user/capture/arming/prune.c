// SPDX-License-Identifier: BSD-2-Clause
/* Before the first window: measures in some steps which functions are worth a probe. */
#include "capture/arming/prune_policy.h"
#include "capture/arming/arm.h"
#include "capture/arming/arm_groups.h"
#include "capture/arming/launches.h"
#include "capture/arming/node_types.h"
#include "capture/arming/probe_kind.h"
#include "capture/arming/watched.h"
#include "capture/steps/optimizer_mark.h"
#include "capture/steps/optimizer_step.h"
#include "capture/steps/step_probes.h"
#include "capture/session.h"
#include "capture/wait.h"
#include "common/util.h"
#include <string.h>

/* Without steps: shortest and longest time to measure. The budget decides in between. */
#define TIMED_LEAST_NS 50000000ull
#define TIMED_MOST_NS  500000000ull
#define TIMED_TURN_US  20000

/* The name in the list of pruned functions; NULL: the row cannot be pruned. */
static const char *left_out_name(const struct planned_probe *probe)
{
	return probe->name			      ? probe->name
	       : probe->category == CAT_BACKWARD_NODE ? "backward nodes, all together"
						      : NULL;
}

/* Users want to see which functions launch work on the device. Collectives stay, too: their table
 * has no estimates, since a collective's time depends on other ranks. */
static bool must_stay(const struct planned_probe *probe)
{
	if (probe->chosen || probe->category == CAT_COMMUNICATION)
		return true;
	return probe->group == GROUP_DEVICE ? PT_CALL_GIVES_WORK(probe->cfg.call.call_class)
					    : !left_out_name(probe) || probe->cfg.name_source;
}

/* A call of the runtime calls the driver, whose probes are hit, too. A return probe also traps at
 * the entry. */
static uint32_t hits_of(const struct planned_probe *probe)
{
	const uint32_t hits = probe->return_program ? 2 : 1;

	return probe->category == CAT_RUNTIME ? 2 * hits : hits;
}

/* Probes of several functions may begin and end a span. Of several last instructions, one ends the
 * span. Returns of other functions (no program) are counted separately. */
static void add_hits(struct prune_input *in, const struct planned_probe *probe, bool is_first)
{
	if (is_first)
		in->hits = hits_of(probe);
	else if (probe->program && in->hits < 2)
		in->hits = 2;
}

/* If two probes see nodes, only the probes of the types are candidates. */
static bool is_weighed(const struct session *s, const struct planned_probe *probe)
{
	return probe->group == GROUP_DEVICE || probe->group == GROUP_NODE_TYPE ||
	       optimizer_step__holds(s, probe) ||
	       (probe->group == GROUP_OPERATOR && !node_types__replaces(s, probe));
}

static size_t gather(const struct session *s, struct prune_input *in)
{
	auto_free size_t *at = calloc(s->plan.row_cnt + 1, sizeof(*at));
	size_t cnt = 0;

	for (size_t i = 0; at && i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		bool is_first = !at[probe->row];

		if (!is_weighed(s, probe))
			continue;
		if (is_first) {
			in[cnt] = (struct prune_input){
				.row = probe->row,
				.stays = must_stay(probe),
				.is_node = probe->category == CAT_BACKWARD_NODE,
				.is_caller = step_probe__runs(probe, "caller_entry"),
				.has_names = probe->cfg.name_source && left_out_name(probe)};
			probes__stat(&s->probes, probe->row, &in[cnt++].stat);
			at[probe->row] = cnt;
		}
		add_hits(&in[at[probe->row] - 1], probe, is_first);
	}
	return cnt;
}

/* The probes of steps and phases stay in any case. */
static bool is_steps_probe(const struct planned_probe *probe)
{
	return probe->group <= GROUP_PHASE || probe->group == GROUP_WATCH ||
	       probe->group == GROUP_ENCLOSING;
}

static void add_steps_probes(const struct session *s, struct prune_policy *policy)
{
	auto_free bool *seen = calloc(s->plan.row_cnt + 1, sizeof(*seen));
	double ns = 0;

	for (size_t i = 0; seen && i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (!is_steps_probe(probe) || seen[probe->row] || s->pruned.rows[probe->row])
			continue;
		seen[probe->row] = true;
		probes__stat(&s->probes, probe->row, &stat);
		if (probe->group == GROUP_STEP)
			policy->callers |= stat.callers;
		if (!is_weighed(s, probe))
			ns += probe_kind__of(probe->group)->cost_ns(&s->facts.cost, &stat);
	}
	policy->other_ns = ns / policy->steps;
}

/* A driver function inside a pruned runtime function is pruned, too. Otherwise it would appear in
 * its place: cuEventCreate instead of cudaEventCreateWithFlags. */
static void prune_inner_calls(struct session *s, const struct prune_input *in, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		const uint64_t outer = in[i].stat.outer;

		if (outer && outer <= s->plan.row_cnt && s->pruned.rows[outer - 1] && !in[i].stays)
			s->pruned.rows[in[i].row] = true;
	}
}

static const struct planned_probe *probe_of(const struct session *s, uint32_t row)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].row == row)
			return &s->plan.probes[i];
	return NULL;
}

static double average(const struct session *s, uint64_t ns, uint64_t spans)
{
	const double inside = (double)s->facts.cost.span_inside_ns;
	const double avg = spans ? (double)ns / (double)spans : 0;

	return avg > inside ? avg - inside : 0;
}

/* Calls are divided by the steps of all threads. In a server whose threads answer requests in turn,
 * any thread may have the next step. */
static int note_pruned(struct session *s, const struct prune_policy *policy,
		       const struct prune_input *in, size_t cnt)
{
	const double begun = policy->steps + (double)s->pruned.beside;

	for (size_t i = 0; i < cnt; i++) {
		const struct planned_probe *probe = probe_of(s, in[i].row);
		const double share = prune__typical_share(policy, &in[i].stat);
		struct pruned_probe drop;
		int err;

		if (!probe || !s->pruned.rows[in[i].row] || (!in[i].stat.spans && !in[i].has_names))
			continue;
		drop.name = left_out_name(probe);
		drop.kind = in[i].is_node		   ? PRUNED_NODE
			    : probe->group == GROUP_DEVICE ? PRUNED_CALL
							   : PRUNED_OPERATOR;
		drop.steps = (uint64_t)policy->steps;
		drop.per_step = (double)in[i].stat.spans / begun;
		drop.avg_ns = share * average(s, in[i].stat.span_ns, in[i].stat.spans);
		drop.inner_per_step = (double)in[i].stat.inner / begun;
		drop.inner_avg_ns = share * average(s, in[i].stat.inner_ns, in[i].stat.inner);
		err = ARRAY_PUSH(s->pruned.list, s->pruned.cnt, s->pruned.cap, drop);
		if (err)
			return err;
	}
	return 0;
}

/* Backward nodes that the probe for all types saw and no type's probe saw. They are of unknown
 * libraries, or leaves whose gradient torch.autograd.grad asks for. The engine passes such leaves
 * on without a call. */
static int note_unknown_nodes(struct session *s, double steps)
{
	struct pruned_probe drop = {.name = "backward nodes not called, or of unknown types",
				    .kind = PRUNED_NODE,
				    .steps = (uint64_t)steps};
	struct pt_probe_stat all = {0}, stat;
	uint64_t known = 0, known_ns = 0;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (node_types__replaces(s, probe)) {
			probes__stat(&s->probes, probe->row, &all);
		} else if (probe->group == GROUP_NODE_TYPE) {
			probes__stat(&s->probes, probe->row, &stat);
			known += stat.spans;
			known_ns += stat.before_ns + stat.span_ns;
		}
	}
	/* less than one a step: such a node was cut off at the begin or end of measuring */
	if (all.spans <= known || (double)(all.spans - known) < steps)
		return 0;
	drop.per_step = (double)(all.spans - known) / (steps + (double)s->pruned.beside);
	if (all.span_ns > known_ns)
		drop.avg_ns = (double)(all.span_ns - known_ns) / (double)(all.spans - known);
	return ARRAY_PUSH(s->pruned.list, s->pruned.cnt, s->pruned.cap, drop);
}

/* Detaches the chosen rows, and attaches and detaches what depends on them. */
static int leave_out(struct session *s, const struct prune_policy *policy,
		     const struct prune_input *in, size_t cnt, size_t chosen)
{
	bool changed[GROUP_CNT] = {
		[GROUP_OPERATOR] = chosen, [GROUP_DEVICE] = chosen && s->calls_on};
	int err;

	prune_inner_calls(s, in, cnt);
	err = note_pruned(s, policy, in, cnt);
	if (!err && node_types__set(s, changed))
		err = note_unknown_nodes(s, policy->steps);
	for (int g = 0; g < GROUP_CNT && !err; g++)
		if (changed[g])
			err = arm__reattach(s, g);
	return err;
}

/* If optimizer_step__weigh() wants another way to see the optimizer's step, more steps are
 * measured. The statistics of all measured steps add up. */
static int measure(struct session *s, uint64_t *steps)
{
	uint64_t more = 0;
	int err;

	*steps = s->pruned.beside = 0;
	do {
		err = optimizer_step__watch(s);
		if (!err)
			err = session__measure_steps(s, &more);
		if (!err)
			err = optimizer_step__weigh(s, more);
		if (err >= 0)
			*steps += more;
	} while (err > 0);
	return err;
}

static bool may_leave_out(const struct session *s)
{
	return !s->opts->no_prune && s->opts->detail == DETAIL_OPERATOR;
}

static struct prune_policy policy_of(const struct session *s)
{
	return (struct prune_policy){
		.max_overhead = s->opts->max_overhead,
		.hit_ns = s->facts.cost.cold_hit_ns,
		.inside_ns = s->facts.cost.span_inside_ns,
		.peer_hits_per_call =
			s->match.framework ? s->match.framework->peer_hits_per_call : 0,
	};
}

static int choose(struct session *s, struct prune_policy *policy)
{
	auto_free struct prune_input *in = calloc(s->plan.cnt + 1, sizeof(*in));
	size_t cnt, chosen;

	if (!in)
		return -ENOMEM;
	add_steps_probes(s, policy);
	cnt = gather(s, in);
	chosen = prune__choose(policy, in, cnt, s->pruned.rows);
	prune__nodes(policy, in, cnt, s->pruned.rows);
	return leave_out(s, policy, in, cnt, chosen);
}

int session__prune(struct session *s)
{
	struct prune_policy policy = policy_of(s);
	uint64_t steps;
	int err;

	s->probes.ctl->clip_ns = prune__clip_ns(&policy);
	if (may_leave_out(s))
		node_types__show(s, true);
	err = bursts__weigh(s);
	if (!err && may_leave_out(s))
		err = launches__watch(s);
	if (!err)
		err = measure(s, &steps);
	launches__unwatch(s);
	s->pruned.steps = err ? 0 : steps;
	if (!err || err == -EAGAIN)
		bursts__weighed(s, err ? 0 : steps);
	if (!err)
		err = optimizer_step__choose(s);
	if (!err)
		err = watched__choose(s, steps);
	if (!err && !may_leave_out(s))
		optimizer_step__keep_choice(s);
	if (err || !may_leave_out(s))
		return err;
	err = optimizer_mark__try(s);
	if (err)
		return err;
	policy.steps = (double)steps;
	policy.step_ns = step_length__paid_ns(&s->step_length);
	err = choose(s, &policy);
	optimizer_step__keep_choice(s);
	return err;
}

/* ---- without steps ---- */

/* A program that has just started behaves differently later. Without a framework the user named all
 * functions. */
static bool measures_time(const struct session *s)
{
	return may_leave_out(s) && s->match.framework && s->opts->duration_ns &&
	       !(s->opts->await_framework && s->opts->no_steps);
}

static int look_at_operators(struct session *s, struct wait *w)
{
	const uint64_t passed_ns = clock__monotonic_ns() - *(const uint64_t *)w->ctx;

	session__progress(s, "measuring operators");
	return passed_ns < TIMED_LEAST_NS || (passed_ns < TIMED_MOST_NS && bursts__may_weigh_on(s))
		       ? WAIT_GOES_ON
		       : WAIT_IS_OVER;
}

/* *ran_ns: CPU time of the process meanwhile. */
static int measure_time(struct session *s, uint64_t *passed_ns, uint64_t *ran_ns)
{
	const uint64_t ran_before_ns = process__cpu_ns(s->opts->pid);
	uint64_t begin_ns = clock__monotonic_ns();
	int err;

	probes__forget_stats(&s->probes);
	s->probes.ctl->measure_from = 0;
	s->probes.ctl->measure_to = UINT64_MAX;
	err = session__wait(s,
			    &(struct wait){look_at_operators, &begin_ns, .turn_us = TIMED_TURN_US});
	*passed_ns = clock__monotonic_ns() - begin_ns;
	s->probes.ctl->measure_to = 0;
	*ran_ns = process__cpu_ns(s->opts->pid) - ran_before_ns;
	return err;
}

/* One second of CPU time takes the place of a step; the probes' own share is subtracted. Of several
 * threads that run at once, one may have all the hits. */
static void count_seconds(struct session *s, uint64_t passed_ns, uint64_t ran_ns,
			  struct prune_policy *policy)
{
	const double own_ns = bursts__weighed_time(s, passed_ns, ran_ns);
	const double ns = own_ns < (double)ran_ns ? (double)ran_ns - own_ns : 0;

	s->pruned.timed = (struct pruned_by_time){passed_ns, ns / (double)passed_ns};
	policy->by_time = true;
	policy->steps = ns / 1e9;
	policy->step_ns = ran_ns > passed_ns ? (uint64_t)(1e9 * (double)passed_ns / (double)ran_ns)
					     : 1000000000;
}

int session__prune_by_time(struct session *s)
{
	struct prune_policy policy = policy_of(s);
	uint64_t passed_ns, ran_ns;
	int err;

	if (!measures_time(s))
		return arm__attach_operators(s);
	s->probes.ctl->clip_ns = prune__clip_ns(&policy);
	node_types__show(s, true);
	err = bursts__weigh(s);
	if (!err)
		err = launches__watch(s);
	if (!err)
		err = measure_time(s, &passed_ns, &ran_ns);
	launches__unwatch(s);
	if (err)
		return err;
	count_seconds(s, passed_ns, ran_ns, &policy);
	return choose(s, &policy);
}
