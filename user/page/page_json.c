// SPDX-License-Identifier: BSD-2-Clause
/* JSON inside an HTML file, and the table of names. */
#include <string.h>
#include "common/util.h"
#include "page/page_internal.h"

void page_json__raw(struct text_file *out, const char *json, size_t len)
{
	while (len) {
		const char *less = memchr(json, '<', len);
		const size_t plain = less ? (size_t)(less - json) : len;

		text_file__put(out, json, plain);
		if (!less)
			return;
		text_file__put(out, "\\u003c", 6);
		json += plain + 1;
		len -= plain + 1;
	}
}

void page_json__string(struct text_file *out, const char *text)
{
	auto_free char *quoted = json__quote(text);

	if (quoted)
		page_json__raw(out, quoted, strlen(quoted));
	else
		text_file__put(out, "\"?\"", 3);
}

int page_names__init(struct page_names *n, const struct stacks *stacks)
{
	*n = (struct page_names){.stacks = stacks};
	n->numbers = calloc((size_t)stacks->frame_max + 1, sizeof(*n->numbers));
	return n->numbers ? 0 : -ENOMEM;
}

void page_names__free(struct page_names *n)
{
	free(n->numbers);
	free(n->frames);
}

int page_names__number(struct page_names *n, uint32_t frame, uint32_t *number)
{
	if (!n->numbers[frame]) {
		int err = ARRAY_PUSH(n->frames, n->cnt, n->cap, frame);

		if (err)
			return err;
		n->numbers[frame] = (uint32_t)n->cnt;
	}
	*number = n->numbers[frame] - 1;
	return 0;
}

uint32_t page_names__frame(const struct page_names *n, const struct span *s)
{
	const uint32_t name_cnt = n->stacks->name_cnt;

	if (s->ev.name && s->ev.name <= name_cnt)
		return s->ev.name;
	return name_cnt + 1 + (s->ev.name ? (uint32_t)LABEL_NO_NAME : (uint32_t)s->kind);
}

void page_names__write(const struct page_names *n, struct text_file *out)
{
	text_file__print(out, "[");
	for (size_t i = 0; i < n->cnt; i++) {
		if (i)
			text_file__put(out, ",\n", 2);
		page_json__string(out, stacks__text(n->stacks, n->frames[i]));
	}
	text_file__print(out, "]");
}
