// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/render/cut_names.h"
#include "analysis/render/text_width.h"
#include "common/util.h"
#include <string.h>

#define ROUNDS 8 /* rounds of making equal texts different */

int cut_names__add(struct cut_names *n, const char *text, int width)
{
	struct cut_name one = {.text = text, .width = width, .base = text__shorten(text, width)};

	if (one.base && !ARRAY_PUSH(n->items, n->cnt, n->cap, one))
		return 0;
	free(one.base);
	return -ENOMEM;
}

/* mark: is added at the end of the shown text. */
static int show_marked(struct cut_name *c, const char *mark)
{
	size_t len;
	FILE *out;

	free(c->shown);
	c->shown = NULL;
	out = open_memstream(&c->shown, &len);
	if (!out)
		return -ENOMEM;
	text__put_cut_from(out, c->base, c->width - (int)strlen(mark), c->from);
	fputs(mark, out);
	return fclose(out) || !c->shown ? -ENOMEM : 0;
}

static int show(struct cut_name *c)
{
	return show_marked(c, "");
}

static int by_shown(const void *x, const void *y)
{
	const struct cut_name *const *p = x, *const *q = y;

	const int alike = strcmp((*p)->shown, (*q)->shown);

	return alike ? alike : strcmp((*p)->text, (*q)->text);
}

/* How many columns all these names begin with. */
static int common_columns(struct cut_name *const *group, size_t cnt)
{
	const char *first = group[0]->base;
	size_t len = strlen(first);

	for (size_t i = 1; i < cnt; i++) {
		size_t same = 0;

		while (same < len && first[same] == group[i]->base[same])
			same++;
		len = same;
	}
	while (len && ((unsigned char)first[len] & 0xc0) == 0x80)
		len--; /* undoes a part of a character that differs */
	return text__columns_within(first, len);
}

static bool all_are_one(struct cut_name *const *group, size_t cnt, bool whole)
{
	for (size_t i = 1; i < cnt; i++)
		if (strcmp(whole ? group[0]->text : group[0]->base,
			   whole ? group[i]->text : group[i]->base) != 0)
			return false;
	return true;
}

/* Shows the whole of a name, because only arguments may differ. */
static int take_whole(struct cut_name *c)
{
	char *whole = strdup(c->text);

	if (!whole)
		return -ENOMEM;
	free(c->base);
	c->base = whole;
	return 0;
}

/* Names whose shown texts are equal. 1 if one of them is shown in another way now. */
static int make_distinct(struct cut_name *const *group, size_t cnt)
{
	int err = 0, from;

	if (cnt < 2 || all_are_one(group, cnt, true))
		return 0;
	if (all_are_one(group, cnt, false))
		for (size_t i = 0; i < cnt && !err; i++)
			err = take_whole(group[i]);
	from = common_columns(group, cnt);
	for (size_t i = 0; i < cnt && !err; i++) {
		group[i]->from = from;
		err = show(group[i]);
	}
	return err ? err : 1;
}

/* One round. 1 if some shown texts were equal. */
static int make_all_distinct(struct cut_name **order, size_t cnt)
{
	int changed = 0;

	qsort(order, cnt, sizeof(struct cut_name *), by_shown);
	for (size_t i = 0, end; i < cnt; i = end) {
		int err;

		for (end = i + 1; end < cnt && !strcmp(order[i]->shown, order[end]->shown); end++)
			;
		err = make_distinct(order + i, end - i);
		if (err < 0)
			return err;
		changed |= err;
	}
	return changed;
}

/* Names whose shown texts are still equal, sorted by whole text: each gets a number. */
static int number(struct cut_name *const *group, size_t cnt)
{
	unsigned int n = 0;
	char mark[16];
	int err = 0;

	if (all_are_one(group, cnt, true))
		return 0;
	for (size_t i = 0; i < cnt && !err; i++) {
		n += !i || strcmp(group[i]->text, group[i - 1]->text) != 0;
		snprintf(mark, sizeof(mark), " #%u", n);
		err = show_marked(group[i], mark);
	}
	return err;
}

/* Texts that repeat themselves may be equal wherever they are cut. */
static int number_all(struct cut_name **order, size_t cnt)
{
	int err = 0;

	qsort(order, cnt, sizeof(struct cut_name *), by_shown);
	for (size_t i = 0, end; i < cnt && !err; i = end) {
		const char *shown = order[i]->shown;

		for (end = i + 1; end < cnt && !strcmp(shown, order[end]->shown); end++)
			;
		err = number(order + i, end - i);
	}
	return err;
}

int cut_names__cut(struct cut_names *n)
{
	auto_free struct cut_name **order = calloc(n->cnt + 1, sizeof(struct cut_name *));
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < n->cnt && !err; i++) {
		order[i] = &n->items[i];
		err = show(&n->items[i]);
	}
	for (int round = 0; round < ROUNDS && !err && n->cnt; round++) {
		int again = make_all_distinct(order, n->cnt);

		if (again <= 0)
			return again;
	}
	return err ? err : number_all(order, n->cnt);
}

void cut_names__free(struct cut_names *n)
{
	for (size_t i = 0; i < n->cnt; i++) {
		free(n->items[i].base);
		free(n->items[i].shown);
	}
	free(n->items);
	*n = (struct cut_names){0};
}
