// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/by_operator.h"
#include <errno.h>
#include "model/call_stack.h"

uint32_t operator__enclosing(const struct span *s)
{
	uint32_t name = 0;

	for (; s; s = s->parent)
		if (s->kind == KIND_OPERATOR || s->kind == KIND_PYTHON_OP ||
		    (!name && s->kind == KIND_USER))
			name = s->ev.name;
	return name;
}

int by_operator__add_to(struct by_operator *m, uint32_t name, uint32_t stack, uint64_t amount)
{
	const struct stat_key key = {.id = name, .child = stack};
	struct stat *stat = stat_map__at(&m->map, &key);

	if (!stat)
		return -ENOMEM;
	stat__add(stat, amount, 0);
	return 0;
}

int by_operator__add(const struct analysis *a, struct by_operator *m, const struct span *s,
		     uint64_t amount)
{
	return by_operator__add_to(m, operator__enclosing(s), span__stack(a->r, s), amount);
}

/* " at train.py:41", or nothing. */
static void put_line(const struct analysis *a, uint32_t stack, char *out, size_t size)
{
	struct call_stacks *stacks;
	char place[128];

	if (!stack || call_stacks__open(a->r, &stacks))
		return;
	if (call_stacks__place(stacks, stack, place, sizeof(place)))
		snprintf(out, size, " at %s", place);
	call_stacks__free(stacks);
}

bool by_operator__of(const struct analysis *a, const struct by_operator *m, uint32_t name,
		     struct top_operator *out)
{
	const struct stat_row *line = NULL;
	char where[140] = "";

	*out = (struct top_operator){.name = name};
	for (size_t i = 0; i < m->map.cnt; i++) {
		const struct stat_row *row = &m->map.rows[i];

		if (row->key.id != name)
			continue;
		out->total += row->stat.cpu.total;
		out->calls += row->stat.calls;
		if (!line || row->stat.cpu.total > line->stat.cpu.total)
			line = row;
	}
	if (!line)
		return false;
	put_line(a, line->key.child, where, sizeof(where));
	snprintf(out->text, sizeof(out->text), "%.*s%s", (int)(sizeof(out->text) - sizeof(where)),
		 name ? analysis__name(a, name) : "code outside of operators", where);
	return true;
}

bool by_operator__top(const struct analysis *a, const struct by_operator *m,
		      struct top_operator *out)
{
	struct stat_map sums = {};
	const struct stat_row *top = NULL;
	bool found = false;

	for (size_t i = 0; i < m->map.cnt; i++) {
		const struct stat_key key = {.id = m->map.rows[i].key.id};
		struct stat *sum = stat_map__at(&sums, &key);

		if (!sum)
			goto out;
		sum->cpu.total += m->map.rows[i].stat.cpu.total;
	}
	for (size_t i = 0; i < sums.cnt; i++)
		if (!top || sums.rows[i].stat.cpu.total > top->stat.cpu.total)
			top = &sums.rows[i];
	found = top && by_operator__of(a, m, top->key.id, out);
out:
	stat_map__free(&sums);
	return found;
}
