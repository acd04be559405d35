// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/python_stacks.h"
#include "common/util.h"
#include "target/python/python_code.h"
#include <string.h>
#include <uthash.h>

struct place {
	const struct python_function *function; /* NULL: it could not be read */
	uint32_t line;
};

struct stack {
	uint64_t key;
	UT_hash_handle hh;
	uint32_t epoch, id; /* id in the recording of that epoch */
	uint32_t cnt;
	bool cut;
	struct place places[]; /* innermost first */
};

struct python_stacks {
	struct python_code *code;
	struct stack *stacks; /* a target that follows the rules has at most PT_MAX_STACKS */
	uint32_t epoch;
	uint64_t unread;
};

/* ---- plan ---- */

static const char *why_not(int err)
{
	return err == -ENOTSUP ? "its frames are known of Python 3.10 to 3.15"
			       : "the interpreter's symbols are not to be had";
}

/* Spans that Python calls or begins get a stack. Of nested operators of a dispatcher, only the
 * outermost gets one. */
static enum pt_stack_of stack_of(const struct planned_probe *probe)
{
	switch (probe->category) {
	case CAT_OPERATOR:
	case CAT_OPTIMIZER_OP:
	case CAT_FUNCTION:
		return probe->group == GROUP_INNER ? PT_STACK_OUTERMOST : PT_STACK_EACH;
	case CAT_PYTHON_OP:
	case CAT_USER:
	case CAT_BACKWARD:
	case CAT_SCRIPT:
	case CAT_REGION:
		return PT_STACK_EACH;
	default:
		return PT_STACK_NONE;
	}
}

void python_stacks__choose(struct probe_plan *plan, size_t from)
{
	if (!plan->layout.stacks.wanted)
		return;
	for (size_t i = from; i < plan->cnt; i++)
		plan->probes[i].cfg.stack = (uint8_t)stack_of(&plan->probes[i]);
}

static int open_code(struct target *t, struct probe_plan *plan, struct python_stacks *s)
{
	struct python_layout layout;
	int err = python_layout__of(t, &layout);

	if (!err)
		err = python_code__open(t, &layout, &s->code);
	if (err)
		return err;
	plan->layout.python_thread = layout.thread;
	plan->layout.stacks = layout.frames;
	plan->layout.stacks.wanted = 1;
	python_stacks__choose(plan, 0);
	return 0;
}

int python_stacks__plan(struct target *t, struct probe_plan *plan, struct python_stacks **out)
{
	struct python_stacks *s = calloc(1, sizeof(*s));
	int err = s ? open_code(t, plan, s) : -ENOMEM;

	*out = err ? NULL : s;
	if (!err)
		return 0;
	free(s);
	if (err == -ENOMEM)
		return err;
	return probe_plan__missing(plan, "Python %s: %s; not shown: stacks of Python",
				   t->python ? t->python : "(none found)", why_not(err));
}

void python_stacks__free(struct python_stacks *s)
{
	struct stack *item, *next;

	if (!s)
		return;
	HASH_ITER(hh, s->stacks, item, next)
	{
		HASH_DEL(s->stacks, item);
		free(item);
	}
	python_code__free(s->code);
	free(s);
}

/* ---- stacks ---- */

static struct stack *find(const struct python_stacks *s, uint64_t key)
{
	struct stack *item;

	HASH_FIND(hh, s->stacks, &key, sizeof(key), item);
	return item;
}

int python_stacks__put(struct python_stacks *s, const struct pt_rec_stack *r)
{
	struct stack *item;

	/* Two threads may reach a stack at the same time. Then both send it. */
	if (find(s, r->key) || HASH_COUNT(s->stacks) >= 2 * PT_MAX_STACKS)
		return 0;
	item = calloc(1, sizeof(*item) + r->cnt * sizeof(item->places[0]));
	if (!item)
		return -ENOMEM;
	item->key = r->key;
	item->cnt = r->cnt;
	item->cut = r->cut;
	for (uint32_t i = 0; i < r->cnt; i++) {
		struct place *p = &item->places[i];

		p->function = python_code__at(s->code, (pid_t)r->h.pid, &r->frames[i], &p->line);
		s->unread += !p->function;
	}
	HASH_ADD(hh, s->stacks, key, sizeof(item->key), item);
	return 0;
}

/* Defines the frames, outermost first. */
static uint32_t define(const struct stack *item, struct recording_writer *w)
{
	uint32_t id = item->cut ? recording_writer__frame(w, 0, 0, 0) : 0;

	for (uint32_t i = item->cnt; i-- > 0;) {
		const struct python_function *f = item->places[i].function;
		uint32_t code = recording_writer__code(w, f ? f->file : "", f ? f->function : "",
						       f ? f->first_line : 0);

		id = code ? recording_writer__frame(w, id, code, item->places[i].line) : 0;
		if (!id)
			break;
	}
	return id;
}

uint32_t python_stacks__id(struct python_stacks *s, struct recording_writer *w, uint64_t key)
{
	struct stack *item = key ? find(s, key) : NULL;

	if (!item)
		return 0;
	if (item->epoch != s->epoch + 1) {
		item->epoch = s->epoch + 1;
		item->id = define(item, w);
	}
	return item->id;
}

void python_stacks__forget_ids(struct python_stacks *s)
{
	s->epoch++;
}

uint64_t python_stacks__unread(const struct python_stacks *s)
{
	return s->unread;
}
