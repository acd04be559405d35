// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/whole_time.h"
#include <stdlib.h>
#include "analysis/analysis.h"
#include "common/util.h"

int whole_time__add(struct whole_time *t, const struct step *step)
{
	const struct stretch item = {step->ts_ns, step->ts_ns + step->dur_ns};

	if (t->cnt && t->items[t->cnt - 1].end == item.begin) {
		t->items[t->cnt - 1].end = item.end;
		return 0;
	}
	return ARRAY_PUSH(t->items, t->cnt, t->cap, item);
}

void whole_time__free(struct whole_time *t)
{
	free(t->items);
}

uint64_t analysis__whole_ns(const struct analysis *a)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < a->whole.cnt; i++)
		ns += a->whole.items[i].end - a->whole.items[i].begin;
	return a->whole.cnt ? ns : analysis__window_ns(a);
}

bool analysis__part(const struct analysis *a, uint64_t begin, uint64_t end, size_t *at,
		    struct stretch *part)
{
	const struct stretch window = analysis__window(a);
	const struct stretch *items = a->whole.cnt ? a->whole.items : &window;
	const size_t cnt = a->whole.cnt ? a->whole.cnt : 1;

	while (*at < cnt) {
		const struct stretch *s = &items[cnt - ++*at];

		if (s->end <= begin)
			return false;
		part->begin = s->begin > begin ? s->begin : begin;
		part->end = s->end < end ? s->end : end;
		if (part->begin < part->end)
			return true;
	}
	return false;
}
