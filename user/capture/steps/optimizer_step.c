// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/optimizer_step.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm_groups.h"
#include "capture/capture_ring.h"
#include "capture/session.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include "frameworks/python/python_watch.h"
#include "target/python/python_code.h"
#include <stdlib.h>
#include <string.h>

enum {
	TRIES = 8,   /* stacks in which we look for the function */
	SILENT = 64, /* backward passes without a call of the function */
	/* most frames from the function to the enclosing one: other decorators lie between */
	FAR = 6,
	/* most hits a step of the enclosing function's probe; so many cost as much as two of a
	 * breakpoint */
	MANY = 16,
};

static bool is_own(const struct planned_probe *probe)
{
	return probe->program && !strcmp(probe->program, OPTIMIZER_STEP_PROGRAM);
}

/* If there are several probes, returns the one that is not pruned. */
static struct planned_probe *own_probe(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (is_own(&s->plan.probes[i]) && !s->pruned.rows[s->plan.probes[i].row])
			return &s->plan.probes[i];
	return NULL;
}

const struct planned_probe *optimizer_step__watched(const struct session *s)
{
	const struct planned_probe *probe = own_probe(s);

	return probe && probe->watch_address && !probe->watch_tid ? probe : NULL;
}

static struct planned_probe *enclosing_probe(const struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].group == GROUP_ENCLOSING)
			return &s->plan.probes[i];
	return NULL;
}

static bool is_update(const struct planned_probe *probe)
{
	return probe->category == CAT_OPTIMIZER_OP && probe->cfg.code == PT_CLASS_OPTIMIZER_OP;
}

static bool has_updates(const struct probe_plan *plan)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (is_update(&plan->probes[i]))
			return true;
	return false;
}

void optimizer_step__plan_frames(struct session *s, const struct python_layout *layout)
{
	s->plan.layout.python_thread = layout->thread;
	if (!s->plan.layout.stacks.wanted)
		s->plan.layout.stacks = layout->frames;
}

int optimizer_step__plan(struct session *s)
{
	struct python_layout layout;

	if (!s->match.framework || !s->match.framework->is_optimizer_step || s->opts->timer_only ||
	    !has_updates(&s->plan) || python_layout__of(s->target, &layout) ||
	    !layout.has_objects || python_code__open(s->target, &layout, &s->optimizer_step.code))
		return 0;
	s->optimizer_step.left_out = calloc(PT_MAX_PROBES, sizeof(bool));
	if (!s->optimizer_step.left_out)
		return -ENOMEM;
	optimizer_step__plan_frames(s, &layout);
	return python_watch__add_optimizer_step(layout.lib, "Optimization Step", 0,
						PT_CLASS_OPTIMIZER_OP, NULL, &s->plan);
}

static void want_stack(struct session *s)
{
	s->probes.ctl->optimizer_stack = s->optimizer_step.tries++ < TRIES;
}

/* The BPF programs follow only the used probe. */
static void use_probe(struct session *s, const struct planned_probe *used)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (is_own(&s->plan.probes[i]))
			s->pruned.rows[s->plan.probes[i].row] = &s->plan.probes[i] != used;
	s->probes.ctl->optimizer_step.row = used->row;
	s->probes.ctl->optimizer_step.refs_at = used->watch_address;
}

void optimizer_step__loaded(struct session *s)
{
	const struct planned_probe *probe = own_probe(s), *enclosing = enclosing_probe(s);

	if (enclosing) /* until we have found the enclosing function */
		s->pruned.rows[enclosing->row] = true;
	if (!probe)
		return;
	use_probe(s, probe);
	if (s->optimizer_step.code)
		want_stack(s);
}

/* ---- which of several functions ---- */

static bool was_called(const struct session *s, const char *symbol)
{
	struct pt_probe_stat stat = {};

	for (size_t i = 0; i < s->plan.cnt && !stat.hits; i++)
		if (!strcmp(s->plan.probes[i].symbol, symbol))
			probes__stat(&s->probes, s->plan.probes[i].row, &stat);
	return stat.hits;
}

int optimizer_step__choose(struct session *s)
{
	const struct planned_probe *used = own_probe(s), *probe;

	if (!used || !used->told_by || was_called(s, used->told_by))
		return 0;
	for (size_t i = 0; i < s->plan.cnt; i++) {
		probe = &s->plan.probes[i];
		if (!is_own(probe) || probe == used || !was_called(s, probe->told_by))
			continue;
		log__debug("the optimizer's step is %s, since the job calls %s", probe->name,
			   probe->told_by);
		use_probe(s, probe);
		return arm__reattach(s, GROUP_WATCH);
	}
	return 0;
}

/* ---- which function ---- */

bool optimizer_step__is_stack(const void *data, size_t size)
{
	const struct pt_rec_stack *r = data;

	return size >= offsetof(struct pt_rec_stack, frames) && r->h.kind == PT_REC_STACK &&
	       !r->key;
}

/* Finds the function that encloses the function of frame i. */
static void find_enclosing(struct session *s, const struct pt_rec_stack *r, uint32_t i)
{
	struct pt_optimizer_step *o = &s->probes.ctl->optimizer_step;
	const struct framework *framework = s->match.framework;
	const struct python_function *f;

	if (!framework->encloses_step || !enclosing_probe(s) ||
	    s->plan.layout.stacks.function_word >= PT_FRAME_WORDS)
		return;
	for (uint32_t k = i + 1; k < r->cnt && k <= i + FAR; k++) {
		f = python_code__at(s->optimizer_step.code, (pid_t)r->h.pid, &r->frames[k],
				    &(uint32_t){0});
		if (!f || !framework->encloses_step(f->file, f->function))
			continue;
		log__debug("around it is %s (%s)", f->function, f->file);
		o->enclosing_calls = r->frames[k].instr;
		o->enclosing = s->probes.ctl->optimizer_functions[k];
		s->optimizer_step.enclosing = o->enclosing;
		return;
	}
}

/* Takes the outermost match: an optimizer's step may call the step of its base class. */
int optimizer_step__take_stack(struct session *s, const void *data, size_t size)
{
	const struct pt_rec_stack *r = data;
	struct planned_probe *probe = own_probe(s);
	const struct python_function *f;

	if (!probe || !s->optimizer_step.code || r->cnt > PT_STACK_FRAMES ||
	    size < offsetof(struct pt_rec_stack, frames) + r->cnt * sizeof(r->frames[0]))
		return 0;
	for (uint32_t i = r->cnt; i-- > 0 && !s->optimizer_step.address;) {
		f = python_code__at(s->optimizer_step.code, (pid_t)r->h.pid, &r->frames[i],
				    &(uint32_t){0});
		if (!f || !s->match.framework->is_optimizer_step(f->file, f->function))
			continue;
		log__debug("the optimizer's step is %s (%s)", f->function, f->file);
		s->optimizer_step.address = r->frames[i].code;
		s->probes.ctl->optimizer_step.tid = r->h.tid;
		probe->watch_tid = (pid_t)r->h.tid;
		find_enclosing(s, r, i);
	}
	if (!s->optimizer_step.address)
		want_stack(s);
	return 0;
}

/* ---- function or operators ---- */

static bool is_in_place(const struct session *s)
{
	return s->optimizer_step.enclosing ? s->probes.attached[GROUP_ENCLOSING]
					   : s->probes.step_watched;
}

static int watch_enclosing(struct session *s, bool on)
{
	s->optimizer_step.enclosing = on;
	s->pruned.rows[enclosing_probe(s)->row] = !on;
	return arm__reattach(s, GROUP_ENCLOSING);
}

static int watch_count(struct session *s)
{
	struct planned_probe *probe = own_probe(s);
	int err;

	/* A code object begins with its reference count. */
	s->probes.ctl->optimizer_step.refs_at = probe->watch_address = s->optimizer_step.address;
	err = arm__reattach(s, GROUP_WATCH);
	if (!s->probes.step_watched)
		probe->watch_address = 0;
	return err;
}

static int watch_no_more(struct session *s)
{
	if (s->optimizer_step.enclosing)
		return watch_enclosing(s, false);
	own_probe(s)->watch_address = 0;
	return arm__reattach(s, GROUP_WATCH);
}

int optimizer_step__watch(struct session *s)
{
	int err = own_probe(s) ? session__drain(s) : 0; /* the ring may still hold the stack */

	s->probes.ctl->optimizer_stack = 0;
	if (err || !s->optimizer_step.address)
		return err;
	s->optimizer_step.outside_before = s->probes.ctl->optimizer_outside;
	return s->optimizer_step.enclosing ? watch_enclosing(s, true) : watch_count(s);
}

int optimizer_step__weigh(struct session *s, uint64_t steps)
{
	const uint32_t outside =
		s->probes.ctl->optimizer_outside - s->optimizer_step.outside_before;
	bool is_enclosing = s->optimizer_step.enclosing;
	struct pt_probe_stat stat;
	int err;

	if (!s->optimizer_step.address || !is_in_place(s))
		return 0;
	probes__stat(&s->probes, is_enclosing ? enclosing_probe(s)->row : own_probe(s)->row, &stat);
	log__debug(
		"the optimizer's step was seen %llu times in %llu steps (%llu hits), %u operators "
		"outside",
		(unsigned long long)stat.spans, (unsigned long long)steps,
		(unsigned long long)stat.hits, outside);
	s->optimizer_step.known =
		stat.spans >= steps && !outside && (!is_enclosing || stat.hits <= MANY * steps);
	if (s->optimizer_step.known)
		return 0;
	err = watch_no_more(s);
	return err ? err : is_enclosing;
}

bool optimizer_step__holds(const struct session *s, const struct planned_probe *probe)
{
	return s->optimizer_step.known && is_update(probe);
}

/* A row may have several probes. All of them are asked before the choice in pruned.rows is
 * overwritten. */
void optimizer_step__keep_choice(struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (optimizer_step__holds(s, probe))
			s->optimizer_step.left_out[probe->row] =
				s->pruned.rows[probe->row] || s->opts->detail == DETAIL_PHASE;
	}
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (optimizer_step__holds(s, &s->plan.probes[i]))
			s->pruned.rows[s->plan.probes[i].row] = false;
}

static void move_updates(struct session *s, bool told)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		struct planned_probe *probe = &s->plan.probes[i];

		if (!is_update(probe))
			continue;
		probe->group = told ? GROUP_OPERATOR : s->optimizer_step.steps_only_group;
		s->pruned.rows[probe->row] = told && s->optimizer_step.left_out[probe->row];
	}
}

/* While steps count, no group that makes steps is attached anew: a step would be missed. */
int optimizer_step__set(struct session *s, bool told)
{
	int err = 0;

	if (!s->optimizer_step.known || s->optimizer_step.told == told ||
	    (told && (!is_in_place(s) || s->optimizer_step.tells_no_more)))
		return 0;
	s->optimizer_step.told = told;
	move_updates(s, told);
	if (told || s->optimizer_step.tells_no_more ||
	    s->optimizer_step.steps_only_group == GROUP_UPDATE)
		err = arm__reattach(s, s->optimizer_step.steps_only_group);
	return err || !told ? err : arm__reattach(s, GROUP_OPERATOR);
}

/* Brings back the operators that were pruned. The other operators stay in their group until no
 * window is open: during a new attach they would be missed. */
static int bring_back_updates(struct session *s)
{
	bool any = false;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		struct planned_probe *probe = &s->plan.probes[i];

		if (!is_update(probe) || !s->optimizer_step.left_out[probe->row])
			continue;
		probe->group = s->optimizer_step.steps_only_group;
		s->pruned.rows[probe->row] = false;
		any = true;
	}
	return any ? arm__reattach(s, s->optimizer_step.steps_only_group) : 0;
}

/* The job may call its optimizer in another way from some moment on. Then the operators make the
 * steps. */
static int poll_calls(struct session *s, uint64_t *next_ns)
{
	int err;

	(void)next_ns;
	if (!s->optimizer_step.told || s->optimizer_step.tells_no_more ||
	    s->probes.ctl->optimizer_passes < SILENT)
		return 0;
	session__progress_end(s);
	log__warn(MESSAGE_OPTIMIZER_STEP_SILENT, SILENT);
	own_probe(s)->watch_address = 0;
	s->optimizer_step.tells_no_more = true;
	err = bring_back_updates(s);
	return !err && s->optimizer_step.enclosing ? watch_enclosing(s, false) : err;
}

int optimizer_step__begin(struct session *s)
{
	enum probe_group group = GROUP_STEP;
	int err;

	for (size_t i = 0; i < s->plan.cnt; i++)
		if (is_update(&s->plan.probes[i]))
			group = s->plan.probes[i].group;
	s->optimizer_step.steps_only_group = group == GROUP_PHASE ? GROUP_PHASE : GROUP_UPDATE;
	err = optimizer_step__set(s, true);
	return err || !s->optimizer_step.told ? err : arm__reattach(s, GROUP_STEP);
}

void optimizer_step__free(struct session *s)
{
	python_code__free(s->optimizer_step.code);
	free(s->optimizer_step.left_out);
}

const struct component component_optimizer_step = {
	.name = "optimizer's step",
	.poll_windows = poll_calls,
};
