// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/sources.h"
#include <stdlib.h>
#include "common/util.h"

bool sources__has(const struct analysis *a)
{
	return recording__frame_cnt(a->r) > 0;
}

static int open(const struct analysis *a, struct sources *s)
{
	s->opened = true;
	s->by_frame = calloc((size_t)recording__frame_cnt(a->r) + 1, sizeof(*s->by_frame));
	return s->by_frame ? call_stacks__open(a->r, &s->stacks) : -ENOMEM;
}

int sources__take(const struct analysis *a, struct sources *s, const struct batch *b)
{
	int err = s->opened ? 0 : open(a, s);

	return err ? err : forward_ops__take(a, &s->forwards, b);
}

static bool is_numbered_node(const struct analysis *a, const struct span *s)
{
	const struct name *n = s->ev.name ? recording__name(a->r, s->ev.name) : NULL;

	return n && n->category == CAT_BACKWARD_NODE && s->ev.id != EVENT_NO_ID;
}

uint32_t sources__stack(const struct analysis *a, struct sources *s, const struct track *t,
			const struct span *span)
{
	const struct forward_op *op;

	for (const struct span *p = span; p; p = p->parent)
		if (is_numbered_node(a, p)) {
			op = forward_ops__of(a, &s->forwards, t, p);
			return op ? op->stack : 0;
		}
	return span__stack(a->r, span);
}

static int intern(struct sources *s, const char *text, uint32_t *id)
{
	const char *key;

	if (!s->ids)
		s->ids = json_object();
	*id = (uint32_t)json_integer_value(json_object_get(s->ids, text));
	if (*id)
		return 0;
	*id = (uint32_t)s->cnt + 1;
	/* A path may be no UTF-8. */
	if (!s->ids || json_object_set_new_nocheck(s->ids, text, json_integer(*id)))
		return -ENOMEM;
	key = json_object_iter_key(json_object_iter_at(s->ids, text));
	return ARRAY_PUSH(s->texts, s->cnt, s->cap, key);
}

int sources__id(const struct analysis *a, struct sources *s, uint32_t stack, uint32_t *id)
{
	const unsigned int depth = a->opts->stack_depth ? a->opts->stack_depth : SOURCES_DEPTH;
	auto_free char *text = NULL;
	int err;

	*id = 0;
	if (!stack || stack > recording__frame_cnt(a->r))
		return 0;
	if (!s->by_frame[stack]) {
		text = call_stacks__text(s->stacks, stack, depth, " < ", false);
		err = text ? intern(s, text, &s->by_frame[stack]) : -ENOMEM;
		if (err)
			return err;
	}
	*id = s->by_frame[stack];
	return 0;
}

const char *sources__text(const struct sources *s, uint32_t id)
{
	return id && id <= s->cnt ? s->texts[id - 1] : NULL;
}

void sources__free(struct sources *s)
{
	call_stacks__free(s->stacks);
	forward_ops__free(&s->forwards);
	json_decref(s->ids);
	free(s->texts);
	free(s->by_frame);
}
