// SPDX-License-Identifier: BSD-2-Clause
#include "capture/device/pointed.h"
#include "capture/arming/arm.h"
#include "capture/arming/node_types.h"
#include "common/err.h"
#include "common/util.h"
#include "device/pointers.h"
#include "target/python/function_hash.h"
#include <string.h>

#define MS	   1000000ull
#define CHECK_NS   (10 * MS) /* short steps: as many as fill this are seen both ways */
#define CHECK_MIN  2	     /* steps */
#define CHECK_MAX  8
#define GIVE_UP_NS (10000 * MS) /* without a step */

static const struct planned_probe *probe_of(const struct session *s, size_t function)
{
	return &s->plan.probes[s->pointed.functions[function].probe];
}

uint32_t pointed__row(const struct session *s, uint32_t function)
{
	return function < s->pointed.cnt ? probe_of(s, function)->row : 0;
}

void pointed__free(struct session *s)
{
	free(s->pointed.functions);
	free(s->pointed.noted);
}

/* ---- which functions ---- */

static uint32_t kind_of(enum pointed pointed)
{
	return pointed == POINTED_NODE ? SHIM_FUNCTION_NODE : SHIM_FUNCTION_CALL;
}

/* Its probe does no more than tell of a name and two times. */
static bool is_candidate(const struct planned_probe *probe)
{
	return probe->pointed && probe->name && !probe->chosen && !probe->for_period &&
	       (probe->group == GROUP_OPERATOR || probe->group == GROUP_NODE_TYPE);
}

static bool is_possible(const struct session *s)
{
	return s->device && !device_source__is_absent(s->device) && s->rule.boundary &&
	       s->measured_steps && s->opts->detail == DETAIL_OPERATOR && !s->opts->record_shapes &&
	       !s->opts->with_stack && !s->opts->no_pointers && s->plan.layout.node_seq;
}

/* What the probes of candidates add to a step, as a share of it. */
static double share(const struct session *s)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (!is_candidate(probe))
			continue;
		probes__stat(&s->probes, probe->row, &stat);
		hits += stat.spans * (probe->return_program ? 2 : 1);
	}
	return (double)(hits * s->facts.cost.cold_hit_ns) /
	       (double)(s->measured_steps * (s->step_ns ? s->step_ns : 1));
}

struct choice {
	struct session *s;
	struct shim_function functions[SHIM_FUNCTIONS];
	size_t probes[SHIM_FUNCTIONS]; /* in the plan */
	bool has_pointer[SHIM_FUNCTIONS];
	size_t cnt;
	const struct target_lib *libs[8];
	size_t lib_cnt;
};

static void add_lib(struct choice *c, const struct target_lib *lib)
{
	for (size_t i = 0; i < c->lib_cnt; i++)
		if (c->libs[i] == lib)
			return;
	if (c->lib_cnt < ARRAY_SIZE(c->libs))
		c->libs[c->lib_cnt++] = lib;
}

/* probe: in the plan, whose calls the function's are. */
static void add_function(struct choice *c, const struct target_lib *lib, uint64_t vaddr,
			 size_t probe)
{
	if (c->cnt == SHIM_FUNCTIONS)
		return;
	c->functions[c->cnt].address = lib->base + vaddr;
	c->functions[c->cnt].kind = kind_of(c->s->plan.probes[probe].pointed);
	c->probes[c->cnt++] = probe;
	add_lib(c, lib);
}

static bool was_called(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (!is_candidate(probe) || strcmp(probe->name, name) != 0)
			continue;
		probes__stat(&s->probes, probe->row, &stat);
		if (stat.spans)
			return true;
	}
	return false;
}

/* Any of the candidates of that name; plan.cnt: there is none. */
static size_t named(const struct session *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->plan.cnt; i++)
		if (is_candidate(&s->plan.probes[i]) && !strcmp(s->plan.probes[i].name, name))
			break;
	return i;
}

static bool has_nodes(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (probe->pointed != POINTED_NODE)
			continue;
		probes__stat(&s->probes, probe->row, &stat);
		if (stat.spans)
			return true;
	}
	return false;
}

/* All functions of a name, if one of them was called; and nodes of all types or of none: one that a
 * probe sees would seem to last until it sees another. */
static void gather(struct choice *c)
{
	const struct session *s = c->s;
	const bool nodes = has_nodes(s);

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (!is_candidate(probe))
			continue;
		if (probe->pointed == POINTED_NODE ? nodes : was_called(s, probe->name))
			add_function(c, probe->lib, probe->vaddr, i);
	}
	for (size_t i = 0; i < s->plan.alias_cnt; i++) {
		const struct pointed_alias *alias = &s->plan.aliases[i];
		const size_t probe = named(s, alias->name);

		if (probe < s->plan.cnt && was_called(s, alias->name))
			add_function(c, alias->lib, alias->vaddr, probe);
	}
}

/* A name goes with all its functions or with none: one calls the other. */
static void leave_out_name(struct choice *c, const char *name)
{
	for (size_t i = 0; i < c->cnt; i++)
		if (!strcmp(c->s->plan.probes[c->probes[i]].name, name))
			c->functions[i].kind = 0;
}

/* Functions that nothing points to are called in some other way, if at all. */
static void leave_out_unreached(struct choice *c, const struct shim_pointer *pointers, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		c->has_pointer[pointers[i].function] = true;
	for (size_t i = 0; i < c->cnt; i++)
		if (!c->has_pointer[i])
			leave_out_name(c, c->s->plan.probes[c->probes[i]].name);
}

/* Methods of Python are left alone where the library could not keep their hashes what they are. */
static void leave_out_calls(struct choice *c)
{
	for (size_t i = 0; i < c->cnt; i++)
		if (c->functions[i].kind == SHIM_FUNCTION_CALL)
			c->functions[i].kind = 0;
}

static int tell_library(struct choice *c)
{
	struct session *s = c->s;
	auto_free struct shim_pointer *pointers = NULL;
	struct shim_functions f = {
		.functions = c->functions,
		.function_cnt = c->cnt,
		.node_seq = s->plan.layout.node_seq,
		.node_object = s->plan.layout.node_pyobj,
		.python_node = s->plan.layout.pynode_vtable,
		.node_number = s->plan.node_number,
		.python_hash = function_hash__place(s->target),
	};
	int err = pointers__find(s->target, c->libs, c->lib_cnt, c->functions, c->cnt, &pointers,
				 &f.pointer_cnt);

	if (err)
		return err;
	f.pointers = pointers;
	leave_out_unreached(c, pointers, f.pointer_cnt);
	if (!f.python_hash)
		leave_out_calls(c);
	s->pointed.functions = calloc(c->cnt + 1, sizeof(*s->pointed.functions));
	s->pointed.noted = calloc(PT_MAX_PROBES, sizeof(*s->pointed.noted));
	if (!s->pointed.functions || !s->pointed.noted)
		return -ENOMEM;
	for (size_t i = 0; i < c->cnt; i++) {
		s->pointed.functions[i].probe = c->probes[i];
		s->pointed.functions[i].reached = c->functions[i].kind;
	}
	s->pointed.cnt = c->cnt;
	return device_source__see(s->device, &f);
}

int pointed__choose(struct session *s)
{
	auto_free struct choice *c = NULL;
	int err;

	if (!is_possible(s) || share(s) < s->opts->max_overhead)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->s = s;
	gather(c);
	err = tell_library(c);
	if (!err || err == -ENOMEM)
		return err;
	log__debug("functions called through pointers: %s", err__take(err));
	s->pointed.cnt = 0;
	return 0;
}

/* ---- both ways ---- */

static int wait_step(struct session *s, uint64_t seq, uint64_t give_up_ns)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	int err = 0;

	while (!err && ctl->step_seq < seq && clock__monotonic_ns() < give_up_ns) {
		session__progress(s, "comparing what is seen of a step");
		err = session__pump(s, 1);
	}
	return err ? err : ctl->step_seq < seq ? -ETIMEDOUT : 0;
}

/* What lies in the steps [from, to) is counted by the probes, and here. A node is told of when the
 * next one begins, which may be a step later. */
static int see_steps(struct session *s, uint64_t *from_ns, uint64_t *to_ns)
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
		return -ETIMEDOUT;
	*from_ns = ctl->step_ns[from % PT_STEP_RING];
	*to_ns = ctl->step_ns[to % PT_STEP_RING];
	return 0;
}

/* All that is compared has probes meanwhile, in the process alone that the library is in; that for
 * all types of nodes tells what those of the types miss. */
static int show_all(struct session *s)
{
	int err;

	for (size_t i = 0; i < s->plan.cnt; i++)
		if (node_types__replaces(s, &s->plan.probes[i]))
			s->dropped[s->plan.probes[i].row] = false;
	for (size_t i = 0; i < s->pointed.cnt; i++)
		s->dropped[probe_of(s, i)->row] = false;
	arm__hurry(true);
	err = probes__attach(&s->probes, GROUP_OPERATOR, s->target->pid);
	if (!err)
		err = probes__attach(&s->probes, GROUP_NODE_TYPE, s->target->pid);
	arm__hurry(false);
	return err;
}

/* A node lasts until the next one, so that it counts where it ends. */
static uint64_t seen_by_probe(const struct session *s, const struct planned_probe *probe)
{
	struct pt_probe_stat stat;

	probes__stat(&s->probes, probe->row, &stat);
	return probe->pointed == POINTED_NODE ? stat.spans : stat.hits;
}

/* Calls of a name by either way; what was under way at an edge may be in one of them alone. */
static bool agree(const struct session *s, const uint64_t *counted, const char *name)
{
	uint64_t by_probes = 0, by_library = 0, edges = 1;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (!is_candidate(probe) || strcmp(probe->name, name) != 0)
			continue;
		by_probes += seen_by_probe(s, probe);
		edges = probe->pointed == POINTED_NODE ? 2 : 1;
	}
	for (size_t i = 0; i < s->pointed.cnt; i++)
		if (!strcmp(probe_of(s, i)->name, name))
			by_library += counted[i];
	if (by_library && by_probes + edges >= by_library && by_library + edges >= by_probes)
		return true;
	log__debug("%s: %llu calls by probes, %llu by pointers", name,
		   (unsigned long long)by_probes, (unsigned long long)by_library);
	return false;
}

/* Each pass begins with a node of none of the types; others are of libraries that no plan knows. */
static bool has_unknown_nodes(const struct session *s)
{
	uint64_t all = 0, known = 0, passes = 0;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		probes__stat(&s->probes, probe->row, &stat);
		if (node_types__replaces(s, probe))
			all += stat.hits;
		else if (probe->group == GROUP_NODE_TYPE)
			known += stat.hits;
		else if (probe->category == CAT_BACKWARD && probe->program)
			passes += stat.hits;
	}
	return all > known + passes + 2;
}

static bool nodes_agree(const struct session *s, const uint64_t *counted)
{
	bool all = !has_unknown_nodes(s);

	for (size_t i = 0; i < s->plan.cnt && all; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (probe->pointed == POINTED_NODE && seen_by_probe(s, probe) > 2)
			all = agree(s, counted, probe->name);
	}
	return all;
}

static void forget_drop(struct session *s, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->drop_cnt; i++)
		if (strcmp(s->drops[i].name, name) != 0)
			s->drops[kept++] = s->drops[i];
	s->drop_cnt = kept;
}

/* before: what was left out until then. Returns how many the library sees from now on. */
static size_t take_over(struct session *s, const uint64_t *counted, const bool *before)
{
	const bool nodes = nodes_agree(s, counted);
	size_t taken = 0;

	for (size_t i = 0; i < s->pointed.cnt; i++) {
		const struct planned_probe *probe = probe_of(s, i);
		const bool is_node = probe->pointed == POINTED_NODE;

		if (!s->pointed.functions[i].reached ||
		    (is_node ? !nodes : !agree(s, counted, probe->name))) {
			s->dropped[probe->row] = before[probe->row];
			device_source__see_no_more(s->device, i);
			continue;
		}
		s->pointed.noted[probe->row] = true;
		forget_drop(s, probe->name);
		taken++;
	}
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (node_types__replaces(s, &s->plan.probes[i]))
			s->dropped[s->plan.probes[i].row] = nodes || before[s->plan.probes[i].row];
	return taken;
}

static bool was_dropped(const struct session *s, const struct planned_probe *probe)
{
	for (size_t i = 0; i < s->drop_cnt && probe->name; i++)
		if (!strcmp(s->drops[i].name, probe->name))
			return true;
	return false;
}

/* Hits of a step that the probes left out would add, apart from what the library may see: also of
 * those that no span comes of. Of what was measured first. */
static double hits_left_out(const struct session *s)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (is_candidate(probe) || !was_dropped(s, probe))
			continue;
		probes__stat(&s->probes, probe->row, &stat);
		hits += 2 * stat.hits;
	}
	return (double)hits / (double)s->measured_steps;
}

static bool is_left_out(const struct session *s, const char *name)
{
	bool known = false;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (!probe->name || strcmp(probe->name, name) != 0)
			continue;
		known = true;
		if (s->dropped[probe->row])
			return true;
	}
	return !known; /* what it stands for has no name of its own */
}

/* What was left out for the sake of those that cost next to nothing now. */
static void bring_back(struct session *s, double hits)
{
	size_t kept = 0;

	if (hits * (double)s->facts.cost.cold_hit_ns > s->opts->max_overhead * (double)s->step_ns)
		return;
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (probe->group == GROUP_OPERATOR && !is_candidate(probe) && was_dropped(s, probe))
			s->dropped[probe->row] = false;
	}
	for (size_t i = 0; i < s->drop_cnt; i++)
		if (is_left_out(s, s->drops[i].name))
			s->drops[kept++] = s->drops[i];
	s->drop_cnt = kept;
}

static int reattach(struct session *s)
{
	int err = arm__reattach(s, GROUP_OPERATOR);

	return err ? err : arm__reattach(s, GROUP_NODE_TYPE);
}

/* The library sees none, and what it was to see it forgets. */
static int see_nothing(struct session *s)
{
	s->probes.noted = NULL;
	s->pointed.cnt = 0;
	return device_source__see(s->device, NULL);
}

static int compare(struct session *s, const bool *before)
{
	struct pt_ctl *ctl = s->probes.ctl;
	const double left_out = hits_left_out(s);
	auto_free uint64_t *counted = NULL;
	uint64_t from_ns = 0, to_ns = 0;
	size_t taken;
	int err, seen;

	probes__forget_stats(&s->probes);
	device_source__count(s->device);
	ctl->learn = 1;
	err = show_all(s);
	seen = err ? err : see_steps(s, &from_ns, &to_ns);
	ctl->learn = 0;
	counted = device_source__counted(s->device, from_ns, to_ns);
	if (err || (seen && seen != -ETIMEDOUT))
		return err ? err : seen;
	if (seen || !counted)
		return -ETIMEDOUT;
	taken = take_over(s, counted, before);
	bring_back(s, left_out);
	log__debug("%zu of %zu functions are seen through %zu pointers", taken, s->pointed.cnt,
		   device_source__pointers_set(s->device));
	s->probes.noted = s->pointed.noted;
	return 0;
}

int pointed__check(struct session *s)
{
	auto_free bool *before = NULL;
	int err;

	if (!s->pointed.cnt)
		return 0;
	/* Calls are seen by probes then, and the library sleeps. */
	if (!device_source__is_recording(s->device) || !device_source__pointers_set(s->device))
		return see_nothing(s);
	before = malloc(PT_MAX_PROBES * sizeof(*before));
	if (!before)
		return -ENOMEM;
	memcpy(before, s->dropped, PT_MAX_PROBES * sizeof(*before));
	err = compare(s, before);
	if (err == -ETIMEDOUT) {
		memcpy(s->dropped, before, PT_MAX_PROBES * sizeof(*before));
		err = see_nothing(s);
	}
	if (!err)
		err = reattach(s);
	probes__forget_spans(&s->probes); /* those whose ends have no probe any more */
	return err;
}

int pointed__adjust(struct session *s)
{
	int err;

	if (!s->probes.noted || s->window.writer ||
	    (!s->yielded && !s->calls_on && !device_source__refusal(s->device)))
		return 0;
	log__debug("functions are seen by probes again");
	err = see_nothing(s);
	return err || !s->armed ? err : reattach(s);
}

void pointed__window_close(struct session *s)
{
	s->pointed.lost =
		s->probes.noted && !s->target_gone && !device_source__pointers_set(s->device);
}
