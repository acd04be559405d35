// SPDX-License-Identifier: BSD-2-Clause
#include "capture/device/pointer_hooks.h"
#include "capture/arming/arm_groups.h"
#include "capture/session.h"
#include "common/err.h"
#include "common/util.h"
#include "device/pointers.h"
#include "target/python/function_hash.h"
#include <string.h>

const struct planned_probe *pointer_hooks__probe(const struct session *s, size_t function)
{
	return &s->plan.probes[s->pointer_hooks.functions[function].probe];
}

uint32_t pointer_hooks__row(const struct session *s, uint32_t function)
{
	return function < s->pointer_hooks.cnt ? pointer_hooks__probe(s, function)->row : 0;
}

bool pointer_hooks__has_name(const struct session *s, uint32_t function)
{
	return function < s->pointer_hooks.cnt &&
	       pointer_hooks__probe(s, function)->group != GROUP_NODE_TYPE;
}

void pointer_hooks__free(struct session *s)
{
	free(s->pointer_hooks.functions);
	free(s->pointer_hooks.hooked);
}

/* ---- which functions ---- */

static uint32_t kind_of(enum pointer_hook hook)
{
	switch (hook) {
	case POINTER_HOOK_NODE:
		return SHIM_FUNCTION_NODE;
	case POINTER_HOOK_PART:
		return SHIM_FUNCTION_PART;
	case POINTER_HOOK_ENCLOSING:
		return SHIM_FUNCTION_ENCLOSING;
	case POINTER_HOOK_RETURNING:
		return SHIM_FUNCTION_RETURNING;
	default:
		return SHIM_FUNCTION_CALL;
	}
}

/* Is it a backward pass, with a step rule that does not use backward passes? */
static bool is_within_step(const struct session *s, const struct planned_probe *probe)
{
	return probe->group == GROUP_STEP && probe->cfg.code == PT_CLASS_BACKWARD &&
	       s->rule.boundary != PT_CLASS_BACKWARD && s->rule.needs != PT_CLASS_BACKWARD;
}

bool pointer_hooks__is_candidate(const struct session *s, const struct planned_probe *probe)
{
	return probe->pointer_hook && probe->pointer_hook != POINTER_HOOK_ENCLOSING &&
	       (probe->name || probe->pointer_hook == POINTER_HOOK_RETURNING) && !probe->chosen &&
	       !probe->for_period && probe->row != s->rule.row &&
	       (probe->group == GROUP_OPERATOR || probe->group == GROUP_NODE_TYPE ||
		is_within_step(s, probe));
}

/* The cost of the candidates' probes, as a share of a step. */
static double share(const struct session *s)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (!pointer_hooks__is_candidate(s, probe))
			continue;
		probes__stat(&s->probes, probe->row, &stat);
		hits += stat.spans * (probe->pointer_hook == POINTER_HOOK_NODE ? 1 : 2);
	}
	return (double)(hits * s->facts.cost.cold_hit_ns) /
	       (double)(s->pruned.steps * (s->step_length.ns ? s->step_length.ns : 1));
}

/* Has the plan any candidate? */
static bool has_candidates(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (pointer_hooks__is_candidate(s, &s->plan.probes[i]))
			return true;
	return false;
}

const char *pointer_hooks__why_not(const struct session *s)
{
	double added;

	if (s->opts->no_pointers)
		return "--no-pointers";
	if (s->opts->detail != DETAIL_OPERATOR)
		return "it is of use at --detail operator alone";
	if (s->opts->record_shapes || s->opts->with_stack)
		return "it sees neither shapes nor stacks";
	if (!s->rule.boundary || !s->pruned.steps)
		return "no steps were found, in which what it sees is compared with what probes "
		       "see";
	if (!has_candidates(s))
		return "no operator is known to be called through pointers";
	added = share(s);
	if (added <= 0)
		return "steps call no operator that is known to be called through pointers";
	if (s->opts->inject && s->opts->no_prune) /* --no-prune has no limit of overhead */
		return NULL;
	return added < s->opts->max_overhead ? "probes add less than --max-overhead" : NULL;
}

struct choice {
	struct session *s;
	struct shim_function functions[SHIM_FUNCTIONS];
	size_t probes[SHIM_FUNCTIONS]; /* index in the plan */
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

/* probe: index in the plan of the probe that sees the function's calls. */
static void add_function(struct choice *c, const struct target_lib *lib, uint64_t entry,
			 size_t probe)
{
	const struct planned_probe *of = &c->s->plan.probes[probe];

	for (size_t i = 0; i < c->cnt; i++)
		if (c->functions[i].address == lib->base + entry)
			return;
	if (c->cnt == SHIM_FUNCTIONS)
		return;
	c->functions[c->cnt].address = lib->base + entry;
	c->functions[c->cnt].kind = kind_of(of->pointer_hook);
	if (of->pointer_hook == POINTER_HOOK_RETURNING) {
		c->functions[c->cnt].object = of->cfg.name_reg + 1;
		if (of->cfg.name_derefs)
			c->functions[c->cnt].object_at = of->cfg.name_path[0];
		else
			c->functions[c->cnt].name_at = of->cfg.name_path[0];
		c->functions[c->cnt].outermost = of->cfg.flags & PT_NAMED_OUTERMOST;
	}
	c->probes[c->cnt++] = probe;
	add_lib(c, lib);
	if (of->pointers_lib)
		add_lib(c, of->pointers_lib);
}

bool pointer_hooks__is_same(const struct planned_probe *a, const struct planned_probe *b)
{
	return a->name && b->name ? !strcmp(a->name, b->name) : a->row == b->row;
}

/* Was this function called, or another one of its name? */
static bool was_called(const struct session *s, const struct planned_probe *one)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (!pointer_hooks__is_candidate(s, probe) || !pointer_hooks__is_same(probe, one))
			continue;
		probes__stat(&s->probes, probe->row, &stat);
		if (stat.spans)
			return true;
	}
	return false;
}

/* The first candidate of this name; plan.cnt: there is none. */
static size_t named(const struct session *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->plan.cnt; i++)
		if (pointer_hooks__is_candidate(s, &s->plan.probes[i]) && s->plan.probes[i].name &&
		    !strcmp(s->plan.probes[i].name, name))
			break;
	return i;
}

static bool has_nodes(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];
		struct pt_probe_stat stat;

		if (probe->pointer_hook != POINTER_HOOK_NODE)
			continue;
		probes__stat(&s->probes, probe->row, &stat);
		if (stat.spans)
			return true;
	}
	return false;
}

/* Adds the methods that enclose called parts. Adds methods without known parts, too: they may be
 * called later. */
static void gather_enclosing(struct choice *c)
{
	const struct session *s = c->s;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (probe->pointer_hook == POINTER_HOOK_ENCLOSING &&
		    (!probe->name || was_called(s, probe)))
			add_function(c, probe->lib, probe->entry, i);
	}
}

/* Adds all functions of a name if one was called, and nodes of all types or of none. If the library
 * saw only some nodes, a node that a probe sees would last until the probe sees the next one. */
static void gather(struct choice *c)
{
	const struct session *s = c->s;
	const bool nodes = has_nodes(s);

	gather_enclosing(c);

	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (!pointer_hooks__is_candidate(s, probe))
			continue;
		if (probe->pointer_hook == POINTER_HOOK_NODE ? nodes : was_called(s, probe))
			add_function(c, probe->lib, probe->entry, i);
	}
	for (size_t i = 0; i < s->plan.alias_cnt; i++) {
		const struct pointer_hook_alias *alias = &s->plan.aliases[i];
		const size_t probe = named(s, alias->name);

		if (probe < s->plan.cnt && was_called(s, &s->plan.probes[probe]))
			add_function(c, alias->lib, alias->vaddr, probe);
	}
}

static bool is_method(const struct choice *c, size_t function)
{
	const uint32_t kind = c->functions[function].kind;

	return kind == SHIM_FUNCTION_CALL || kind == SHIM_FUNCTION_ENCLOSING;
}

/* Some kinds are decided function by function. For others, one function of a name may call another,
 * so the library sees all functions of a name or none. */
static bool stands_alone(const struct choice *c, size_t function)
{
	const enum pointer_hook hook = c->s->plan.probes[c->probes[function]].pointer_hook;

	return hook == POINTER_HOOK_PART || hook == POINTER_HOOK_ENCLOSING ||
	       hook == POINTER_HOOK_RETURNING;
}

static void leave_out_name(struct choice *c, const char *name)
{
	for (size_t i = 0; i < c->cnt; i++)
		if (!stands_alone(c, i) && !strcmp(c->s->plan.probes[c->probes[i]].name, name))
			c->functions[i].kind = 0;
}

/* Drops functions without pointers: they are called in another way, if at all. */
static void leave_out_unreached(struct choice *c, const struct shim_pointer *pointers, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		c->has_pointer[pointers[i].function] = true;
	for (size_t i = 0; i < c->cnt; i++) {
		if (c->has_pointer[i])
			continue;
		if (stands_alone(c, i))
			c->functions[i].kind = 0;
		else
			leave_out_name(c, c->s->plan.probes[c->probes[i]].name);
	}
}

/* Drops methods of Python if the library cannot preserve their hashes. */
static void leave_out_methods(struct choice *c)
{
	for (size_t i = 0; i < c->cnt; i++)
		if (is_method(c, i))
			c->functions[i].kind = 0;
}

/* Copies what the BPF programs know about callers. */
static void send_callers(const struct pt_full_name *known, struct shim_functions *f)
{
	_Static_assert(PT_MAX_FULL_NAME_SITES == SHIM_NAMED_CALLS, "the same");

	for (size_t i = 0; i < SHIM_NAMED_CALLS; i++) {
		f->named_calls[i].return_address = known->sites[i].return_address;
		f->named_calls[i].reg = known->sites[i].reg;
	}
	f->named_at = known->text_at;
}

static int send_to_library(struct choice *c)
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
	send_callers(&s->plan.layout.full_name, &f);
	leave_out_unreached(c, pointers, f.pointer_cnt);
	if (!f.python_hash)
		leave_out_methods(c);
	s->pointer_hooks.functions = calloc(c->cnt + 1, sizeof(*s->pointer_hooks.functions));
	s->pointer_hooks.hooked = calloc(PT_MAX_PROBES, sizeof(*s->pointer_hooks.hooked));
	if (!s->pointer_hooks.functions || !s->pointer_hooks.hooked)
		return -ENOMEM;
	for (size_t i = 0; i < c->cnt; i++) {
		s->pointer_hooks.functions[i].probe = c->probes[i];
		s->pointer_hooks.functions[i].reached = c->functions[i].kind;
	}
	s->pointer_hooks.cnt = c->cnt;
	return device_source__see(s->device, &f);
}

int pointer_hooks__choose(struct session *s)
{
	auto_free struct choice *c = NULL;
	int err;

	if (!s->device || device_source__is_absent(s->device) || pointer_hooks__why_not(s))
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->s = s;
	gather(c);
	err = send_to_library(c);
	if (!err || err == -ENOMEM)
		return err;
	log__debug("functions called through pointers: %s", err__take(err));
	s->pointer_hooks.cnt = 0;
	return 0;
}

/* ---- later ---- */

int pointer_hooks__reattach(struct session *s)
{
	int err = arm__reattach(s, GROUP_OPERATOR);

	return err ? err : arm__reattach(s, GROUP_NODE_TYPE);
}

static bool sees_passes(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt && s->probes.hooked; i++)
		if (s->plan.probes[i].group == GROUP_STEP &&
		    s->probes.hooked[s->plan.probes[i].row])
			return true;
	return false;
}

int pointer_hooks__leave_passes(struct session *s)
{
	return sees_passes(s) ? arm__reattach_steps(s) : 0;
}

int pointer_hooks__see_nothing(struct session *s)
{
	s->probes.hooked = NULL;
	s->pointer_hooks.cnt = 0;
	return device_source__see(s->device, NULL);
}

int pointer_hooks__poll(struct session *s)
{
	int err;

	if (!s->probes.hooked || s->window.writer ||
	    (!s->cupti.yielded && !s->calls_on && !device_source__refusal(s->device)))
		return 0;
	log__debug("functions are seen by probes again");
	/* Attaches these beside the probes of steps: no step may be missed. */
	err = probes__attach_hooked(&s->probes, GROUP_STEP, s->target->pid);
	if (!err)
		err = pointer_hooks__see_nothing(s);
	return err || s->residency != RESIDENCY_FULL ? err : pointer_hooks__reattach(s);
}

void pointer_hooks__window_close(struct session *s)
{
	s->pointer_hooks.lost =
		s->probes.hooked && !s->target_gone && !device_source__pointers_set(s->device);
}
