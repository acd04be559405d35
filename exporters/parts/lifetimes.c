// SPDX-License-Identifier: BSD-2-Clause
/* Uses libc's balanced tree, because live allocations are few compared to events. */
#include "exporters/parts/lifetimes.h"
#include <search.h>
#include "common/util.h"

static int compare(const void *a, const void *b)
{
	const struct lifetime *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

int lifetimes__begin(struct lifetimes *l, const struct lifetime *begun, struct lifetime *replaced)
{
	struct lifetime *copy;

	*replaced = lifetimes__end(l, begun);
	if (l->cnt == LIFETIMES_MAX) {
		l->forgotten++;
		return 0;
	}
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *begun;
	if (!tsearch(copy, &l->tree, compare)) {
		free(copy);
		return -ENOMEM;
	}
	l->cnt++;
	return 0;
}

struct lifetime lifetimes__end(struct lifetimes *l, const struct lifetime *key)
{
	struct lifetime *const *found = tfind(key, &l->tree, compare), *item, ended;

	if (!found)
		return (struct lifetime){0};
	item = *found;
	ended = *item;
	tdelete(key, &l->tree, compare);
	free(item);
	l->cnt--;
	return ended;
}

struct walk {
	void (*fn)(const struct lifetime *alive, void *ctx);
	void *ctx;
};

static void visit(const void *node, VISIT order, void *ctx)
{
	const struct walk *w = ctx;

	if (order == postorder || order == leaf)
		w->fn(*(const struct lifetime *const *)node, w->ctx);
}

void lifetimes__each(const struct lifetimes *l, void (*fn)(const struct lifetime *alive, void *ctx),
		     void *ctx)
{
	struct walk w = {fn, ctx};

	twalk_r(l->tree, visit, &w);
}

void lifetimes__free(struct lifetimes *l)
{
	tdestroy(l->tree, free);
	*l = (struct lifetimes){0};
}
