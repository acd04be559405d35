// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/turns.h"
#include "common/util.h"
#include <stdlib.h>

enum {
	LONGEST = 8, /* most steps of a turn */
	TWICE = 2,   /* a turn must be seen so many times */
	FEWEST = 6,  /* fewest steps: two different pairs may be chance */
};

/* Independent of the order, because operators of threads that are read together may come in any
 * order. */
static uint64_t signature(const struct span *s)
{
	uint64_t sum = 0;

	for (; s; s = s->next_sibling) {
		if (s->kind == KIND_OPERATOR)
			sum += (s->ev.name + 1) * 0x9e3779b97f4a7c15ull;
		sum += signature(s->first_child);
	}
	return sum;
}

int turns__add(struct turns *t, const struct batch *b)
{
	int err = 0;

	if (!b->step)
		return 0;
	if (!t->cnt || t->step != b->step->index)
		err = ARRAY_PUSH(t->signatures, t->cnt, t->cap, 0);
	t->step = b->step->index;
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		if (b->tracks[i].track->id == b->step->track)
			t->signatures[t->cnt - 1] += signature(b->tracks[i].roots);
	return err;
}

static bool repeats_after(const struct turns *t, size_t length)
{
	for (size_t i = length; i < t->cnt; i++)
		if (t->signatures[i] != t->signatures[i - length])
			return false;
	return true;
}

size_t turns__length(const struct turns *t)
{
	if (t->cnt < FEWEST || repeats_after(t, 1))
		return 0;
	for (size_t length = 2; length <= LONGEST && TWICE * length <= t->cnt; length++)
		if (repeats_after(t, length))
			return length;
	return 0;
}

void turns__free(struct turns *t)
{
	free(t->signatures);
}
