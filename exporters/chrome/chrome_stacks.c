// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/chrome/chrome_stacks.h"
#include <string.h>
#include "common/util.h"
#include "exporters/parts/event_text.h"

int chrome_stacks__make(const struct recording *r, struct chrome_stacks *out)
{
	*out = (struct chrome_stacks){.cnt = recording__frame_cnt(r)};
	out->quoted = calloc((size_t)out->cnt + 1, sizeof(*out->quoted));
	return out->quoted ? call_stacks__open(r, &out->stacks) : -ENOMEM;
}

void chrome_stacks__free(struct chrome_stacks *s)
{
	for (uint32_t id = 0; s->quoted && id <= s->cnt; id++)
		free(s->quoted[id]);
	free(s->quoted);
	call_stacks__free(s->stacks);
	*s = (struct chrome_stacks){0};
}

int chrome_stacks__put(struct chrome_stacks *s, struct text_file *out, uint32_t stack)
{
	if (!stack || stack > s->cnt)
		return 0;
	if (!s->quoted[stack]) {
		auto_free char *text = call_stacks__text(s->stacks, stack, 0, ";", true);

		s->quoted[stack] = text ? json__quote(text) : NULL;
		if (!s->quoted[stack])
			return -ENOMEM;
	}
	text_file__put(out, "\"Call stack\":", strlen("\"Call stack\":"));
	text_file__put(out, s->quoted[stack], strlen(s->quoted[stack]));
	text_file__put(out, ",", 1);
	return 0;
}
