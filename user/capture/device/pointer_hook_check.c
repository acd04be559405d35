// SPDX-License-Identifier: BSD-2-Clause
/* Compares probes and pointer hooks for some steps. A function on which both agree needs no
 * probe. */
#include "capture/arming/arm_groups.h"
#include "capture/arming/node_types.h"
#include "capture/device/pointer_hooks.h"
#include "capture/session.h"
#include "capture/wait.h"
#include "common/err.h"
#include "common/util.h"
#include <stdlib.h>
#include <string.h>

#define MS	   1000000ull
#define CHECK_NS   (10 * MS) /* if steps are short, compare as many as fill this */
#define CHECK_MIN  2	     /* steps */
#define CHECK_MAX  8
#define TRIES	   3
#define GIVE_UP_NS (10000 * MS) /* longest wait for a step */

static int look_at_step(struct session *s, struct wait *w)
{
	if (s->probes.ctl->step_seq >= *(const uint64_t *)w->ctx)
		return WAIT_IS_OVER;
	session__progress(s, "comparing what is seen of a step");
	return WAIT_GOES_ON;
}

static int wait_step(struct session *s, uint64_t seq, uint64_t give_up_ns)
{
	const int err = session__wait(
		s, &(struct wait){look_at_step, &seq, .turn_us = 1000, .end_ns = give_up_ns});

	return err ? err : s->probes.ctl->step_seq < seq ? -ETIMEDOUT : 0;
}

/* Probes and library count the calls of steps [from, to). A node's record comes when the next node
 * begins, perhaps a step later. Returns -EAGAIN if the times of these steps are no longer known. */
static int see_some_steps(struct session *s, uint64_t *from_ns, uint64_t *to_ns)
{
	struct pt_ctl *ctl = s->probes.ctl;
	const uint64_t from = ctl->step_seq + 2, begin = clock__monotonic_ns();
	uint64_t to = from;
	int err;

	ctl->measure_from = from;
	ctl->measure_to = UINT64_MAX;
	err = wait_step(s, from, begin + GIVE_UP_NS);
	while (!err && to - from < CHECK_MAX &&
	       (to - from < CHECK_MIN || clock__monotonic_ns() - begin < CHECK_NS)) {
		err = wait_step(s, to + 1, clock__monotonic_ns() + GIVE_UP_NS);
		to = ctl->step_seq;
	}
	to++;
	ctl->measure_to = to;
	if (!err)
		err = wait_step(s, to + 2, clock__monotonic_ns() + GIVE_UP_NS);
	if (err)
		return err;
	if (ctl->step_seq - from >= PT_STEP_RING)
		return -EAGAIN;
	*from_ns = ctl->step_ns[from % PT_STEP_RING];
	*to_ns = ctl->step_ns[to % PT_STEP_RING];
	return 0;
}

/* Repeats, since short steps may pass while we have no processor. */
static int see_steps(struct session *s, uint64_t *from_ns, uint64_t *to_ns)
{
	int err = -EAGAIN;

	for (int i = 0; i < TRIES && err == -EAGAIN; i++) {
		probes__forget_stats(&s->probes);
		err = see_some_steps(s, from_ns, to_ns);
	}
	return err == -EAGAIN ? -ETIMEDOUT : err;
}

/* Attaches probes to all functions to compare, only in the process with the library. The probe for
 * all types shows nodes that the types' probes miss. */
static int show_all(struct session *s)
{
	int err;

	for (size_t i = 0; i < s->plan.cnt; i++)
		if (node_types__replaces(s, &s->plan.probes[i]))
			s->pruned.rows[s->plan.probes[i].row] = false;
	for (size_t i = 0; i < s->pointer_hooks.cnt; i++)
		s->pruned.rows[pointer_hooks__probe(s, i)->row] = false;
	arm__hurry(true);
	err = probes__attach(&s->probes, GROUP_OPERATOR, s->target->pid);
	if (!err)
		err = probes__attach(&s->probes, GROUP_NODE_TYPE, s->target->pid);
	arm__hurry(false);
	return err;
}

/* Do the function's calls end at return sites? With hooks these calls return to our library. */
static bool ends_at_callers(const struct planned_probe *probe)
{
	return probe->return_site_program;
}

/* Does the probe's number of spans count the calls? A node lasts until the next one, so it counts
 * at its end. A function with many names has hits that are none of its calls. */
static bool are_spans_told(const struct planned_probe *probe)
{
	return probe->pointer_hook == POINTER_HOOK_NODE ||
	       (probe->pointer_hook == POINTER_HOOK_RETURNING && !ends_at_callers(probe));
}

static uint64_t seen_by_probe(const struct session *s, const struct planned_probe *probe)
{
	struct pt_probe_stat stat;

	probes__stat(&s->probes, probe->row, &stat);
	return are_spans_told(probe) ? stat.spans : stat.hits;
}

static bool was_seen(const struct session *s, const struct planned_probe *probe)
{
	struct pt_probe_stat stat;

	probes__stat(&s->probes, probe->row, &stat);
	return stat.hits;
}

/* Do probes and library agree about the calls of a name? A call at an edge may be in only one of
 * the counts. */
static bool agree(const struct session *s, const uint64_t *counted, const struct planned_probe *one)
{
	uint64_t by_probes = 0, by_library = 0, edges = 1;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (!pointer_hooks__is_candidate(s, probe) || !pointer_hooks__is_same(probe, one))
			continue;
		by_probes += seen_by_probe(s, probe);
		edges = are_spans_told(probe) ? 2 : 1;
	}
	for (size_t i = 0; i < s->pointer_hooks.cnt; i++)
		if (pointer_hooks__is_candidate(s, pointer_hooks__probe(s, i)) &&
		    pointer_hooks__is_same(pointer_hooks__probe(s, i), one))
			by_library += counted[i];
	if (by_library && by_probes + edges >= by_library && by_library + edges >= by_probes)
		return true;
	log__debug("%s: %llu calls by probes, %llu by pointers",
		   one->name ? one->name : one->symbol, (unsigned long long)by_probes,
		   (unsigned long long)by_library);
	return false;
}

/* Does each step have a node of no known type? It is of an unknown library or the root of several
 * losses, or a leaf whose gradient the program asked for. The engine passes such leaves on without
 * a call. */
static bool has_unknown_nodes(const struct session *s)
{
	const uint64_t steps = s->probes.ctl->measure_to - s->probes.ctl->measure_from;
	uint64_t all = 0, known = 0;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		probes__stat(&s->probes, probe->row, &stat);
		if (node_types__replaces(s, probe))
			all += stat.hits;
		else if (probe->group == GROUP_NODE_TYPE)
			known += stat.hits;
	}
	if (all < known + steps)
		return false;
	log__debug("backward nodes: %llu, %llu of them of known types", (unsigned long long)all,
		   (unsigned long long)known);
	return true;
}

static bool nodes_agree(const struct session *s, const uint64_t *counted)
{
	bool all = !has_unknown_nodes(s);

	for (size_t i = 0; i < s->plan.cnt && all; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (probe->pointer_hook == POINTER_HOOK_NODE && seen_by_probe(s, probe) > 2)
			all = agree(s, counted, probe);
	}
	return all;
}

static void forget_drop(struct session *s, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->pruned.cnt; i++)
		if (strcmp(s->pruned.list[i].name, name) != 0)
			s->pruned.list[kept++] = s->pruned.list[i];
	s->pruned.cnt = kept;
}

/* Does the library see the method? Several methods may be one function. */
static bool is_reached(const struct session *s, const struct planned_probe *enclosing)
{
	for (size_t i = 0; i < s->pointer_hooks.cnt; i++) {
		const struct planned_probe *probe = pointer_hooks__probe(s, i);

		if (s->pointer_hooks.functions[i].reached && probe->lib == enclosing->lib &&
		    probe->entry == enclosing->entry)
			return true;
	}
	return false;
}

/* Does the library see where these parts end? A method without known parts may have any part. */
static bool has_ends(const struct session *s, const struct planned_probe *part)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *enclosing = &s->plan.probes[i];

		if (enclosing->pointer_hook == POINTER_HOOK_ENCLOSING &&
		    (enclosing->name ? pointer_hooks__is_same(enclosing, part)
				     : was_seen(s, enclosing)) &&
		    !is_reached(s, enclosing))
			return false;
	}
	return true;
}

static bool is_agreed(const struct session *s, const uint64_t *counted, bool nodes, size_t function)
{
	const struct planned_probe *probe = pointer_hooks__probe(s, function);

	if (!s->pointer_hooks.functions[function].reached)
		return false;
	/* The programs end nodes at the end of the backward pass, so passes and nodes go
	 * together. */
	if (!nodes && (probe->pointer_hook == POINTER_HOOK_NODE || probe->group == GROUP_STEP))
		return false;
	if (probe->pointer_hook == POINTER_HOOK_NODE)
		return true;
	return (probe->pointer_hook != POINTER_HOOK_PART || has_ends(s, probe)) &&
	       agree(s, counted, probe);
}

/* Methods that enclose parts which still have probes need probes, although the library sees them,
 * too. */
static void take_enclosing(struct session *s, bool all_parts, const bool *before)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (probe->pointer_hook != POINTER_HOOK_ENCLOSING || probe->name)
			continue; /* its row belongs to a part */
		s->pointer_hooks.hooked[probe->row] = all_parts && is_reached(s, probe);
		if (!s->pointer_hooks.hooked[probe->row])
			s->pruned.rows[probe->row] = before[probe->row];
	}
}

/* Does the library intercept a function without replacing its probe? That probe then sees neither
 * the caller nor the end. */
static bool is_in_the_way(const struct session *s)
{
	for (size_t i = 0; i < s->pointer_hooks.cnt; i++)
		if (s->pointer_hooks.functions[i].reached &&
		    ends_at_callers(pointer_hooks__probe(s, i)) &&
		    !s->pointer_hooks.hooked[pointer_hooks__probe(s, i)->row])
			return true;
	return false;
}

/* before: rows pruned before. Returns the number of functions that the library sees from now on. */
static size_t take_over(struct session *s, const uint64_t *counted, const bool *before)
{
	const bool nodes = nodes_agree(s, counted);
	bool all_parts = true;
	size_t taken = 0;

	for (size_t i = 0; i < s->pointer_hooks.cnt; i++) {
		const struct planned_probe *probe = pointer_hooks__probe(s, i);

		if (probe->pointer_hook == POINTER_HOOK_ENCLOSING)
			continue;
		if (!is_agreed(s, counted, nodes, i)) {
			s->pruned.rows[probe->row] = before[probe->row];
			device_source__see_no_more(s->device, i);
			all_parts &=
				probe->pointer_hook != POINTER_HOOK_PART || !was_seen(s, probe);
			continue;
		}
		s->pointer_hooks.hooked[probe->row] = true;
		if (probe->name)
			forget_drop(s, probe->name);
		taken++;
	}
	take_enclosing(s, all_parts, before);
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (node_types__replaces(s, &s->plan.probes[i]))
			s->pruned.rows[s->plan.probes[i].row] =
				nodes || before[s->plan.probes[i].row];
	return taken;
}

static bool was_pruned(const struct session *s, const struct planned_probe *probe)
{
	for (size_t i = 0; i < s->pruned.cnt && probe->name; i++)
		if (!strcmp(s->pruned.list[i].name, probe->name))
			return true;
	return false;
}

/* Hits a step of the pruned probes, without functions that hooks may see. Hits without spans count,
 * too. Uses the first measurement. */
static double hits_left_out(const struct session *s)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (pointer_hooks__is_candidate(s, probe) || !was_pruned(s, probe))
			continue;
		probes__stat(&s->probes, probe->row, &stat);
		hits += 2 * stat.hits;
	}
	return (double)hits / (double)s->pruned.steps;
}

static bool is_left_out(const struct session *s, const char *name)
{
	bool known = false;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (!probe->name || strcmp(probe->name, name) != 0)
			continue;
		known = true;
		if (s->pruned.rows[probe->row])
			return true;
	}
	return !known; /* the name stands for several functions */
}

/* Brings back probes that were pruned in favour of functions that cost next to nothing now. */
static void bring_back(struct session *s, double hits)
{
	size_t kept = 0;

	if (hits * (double)s->facts.cost.cold_hit_ns >
	    s->opts->max_overhead * (double)step_length__paid_ns(&s->step_length))
		return;
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (probe->group == GROUP_OPERATOR && !pointer_hooks__is_candidate(s, probe) &&
		    was_pruned(s, probe))
			s->pruned.rows[probe->row] = false;
	}
	for (size_t i = 0; i < s->pruned.cnt; i++)
		if (is_left_out(s, s->pruned.list[i].name))
			s->pruned.list[kept++] = s->pruned.list[i];
	s->pruned.cnt = kept;
}

static int compare(struct session *s, const bool *before)
{
	struct pt_ctl *ctl = s->probes.ctl;
	const double left_out = hits_left_out(s);
	auto_free uint64_t *counted = NULL;
	uint64_t from_ns = 0, to_ns = 0;
	size_t taken;
	int err, seen;

	device_source__count(s->device);
	ctl->learn = 1;
	err = show_all(s);
	seen = err ? err : see_steps(s, &from_ns, &to_ns);
	ctl->learn = 0;
	counted = device_source__counted(s->device, from_ns, to_ns);
	if (err || (seen && seen != -ETIMEDOUT))
		return err ? err : seen;
	if (seen || !counted) {
		log__debug("functions have probes: no steps were seen both ways");
		return -ETIMEDOUT;
	}
	taken = take_over(s, counted, before);
	bring_back(s, left_out);
	log__debug("%zu of %zu functions are seen through %zu pointers", taken,
		   s->pointer_hooks.cnt, device_source__pointers_set(s->device));
	s->probes.hooked = s->pointer_hooks.hooked;
	return 0;
}

int pointer_hooks__check(struct session *s)
{
	auto_free bool *before = NULL;
	int err;

	if (!s->pointer_hooks.cnt)
		return 0;
	/* CUPTI is refused or absent then: probes see the calls, and the library sleeps. */
	if (!device_source__is_recording(s->device) || !device_source__pointers_set(s->device)) {
		log__debug("functions have probes: the library %s",
			   device_source__is_recording(s->device) ? "has set no pointers"
								  : "does not record");
		return pointer_hooks__see_nothing(s);
	}
	before = malloc(PT_MAX_PROBES * sizeof(*before));
	if (!before)
		return -ENOMEM;
	memcpy(before, s->pruned.rows, PT_MAX_PROBES * sizeof(*before));
	err = compare(s, before);
	s->pointer_hooks.in_the_way = is_in_the_way(s);
	if (err == -ETIMEDOUT) {
		memcpy(s->pruned.rows, before, PT_MAX_PROBES * sizeof(*before));
		err = pointer_hooks__see_nothing(s);
	}
	if (!err)
		err = pointer_hooks__reattach(s);
	if (!err)
		err = pointer_hooks__leave_passes(s);
	probes__forget_spans(&s->probes); /* spans whose ends have no probe any more */
	return err;
}
