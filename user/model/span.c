// SPDX-License-Identifier: BSD-2-Clause
/* Spans: how they are stored, and how to walk over them. */
#include <stdlib.h>
#include <string.h>
#include "model/model_internal.h"

#define BLOCK_NODES 1024

struct block {
	struct block *next;
	struct node nodes[BLOCK_NODES];
};

static int pool__grow(struct pool *p)
{
	struct block *b = malloc(sizeof(*b));

	if (!b)
		return -1;
	b->next = p->blocks;
	p->blocks = b;
	for (size_t i = BLOCK_NODES; i-- > 0;) {
		b->nodes[i].span.ev.args = NULL;
		b->nodes[i].last_child = p->free_list;
		p->free_list = &b->nodes[i];
	}
	return 0;
}

struct node *pool__new(struct pool *p)
{
	struct node *n;

	if (!p->free_list && pool__grow(p))
		return NULL;
	n = p->free_list;
	p->free_list = n->last_child;
	memset(n, 0, sizeof(*n));
	p->live++;
	return n;
}

void pool__release(struct pool *p, struct node *n)
{
	free((void *)n->span.ev.args);
	n->span.ev.args = NULL;
	n->last_child = p->free_list;
	p->free_list = n;
	p->live--;
}

void pool__release_tree(struct pool *p, struct span *s)
{
	while (s) {
		struct span *next = s->next_sibling;

		pool__release_tree(p, s->first_child);
		pool__release(p, to_node(s));
		s = next;
	}
}

void pool__free(struct pool *p)
{
	struct block *b = p->blocks;

	while (b) {
		struct block *next = b->next;

		for (size_t i = 0; i < BLOCK_NODES; i++)
			free((void *)b->nodes[i].span.ev.args);
		free(b);
		b = next;
	}
	memset(p, 0, sizeof(*p));
}

struct node *model__copy_span(struct model *m, const struct event *e)
{
	struct node *n = pool__new(&m->pool);
	void *args = NULL;

	if (!n)
		return NULL;
	if (e->args_len) {
		args = malloc(e->args_len);
		if (!args)
			return NULL;
		memcpy(args, e->args, e->args_len);
	}
	n->span.ev = *e;
	n->span.ev.args = args;
	m->stats.spans++;
	return n;
}

bool span__continues(const struct span *s)
{
	return s->inferred && !s->ev.name && s->ev.flags & EVENT_CUT_BEGIN;
}

const char *span__name(const struct recording *r, const struct span *s)
{
	const struct name *n = s->ev.name ? recording__name(r, s->ev.name) : NULL;

	return n && n->text ? n->text : span_kind__label(s->kind);
}

struct span *span__next(const struct span *s, const struct span *root)
{
	if (s->first_child)
		return s->first_child;
	while (s && s != root) {
		if (s->next_sibling)
			return s->next_sibling;
		s = s->parent;
	}
	return NULL;
}
