// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/callers.h"
#include "common/util.h"

int callers__id(struct callers *c, const struct span *s, bool (*is_caller)(const struct span *s),
		uint32_t *id)
{
	uint32_t names[CALLERS_MAX];
	size_t cnt = 0;

	*id = 0;
	for (s = s->parent; s && cnt < CALLERS_MAX; s = s->parent)
		if (is_caller(s))
			names[cnt++] = s->ev.name;
	while (cnt-- > 0) {
		const struct stat_key key = {.group = *id, .id = names[cnt]};
		const struct stat *row = stat_map__at(&c->map, &key);

		if (!row)
			return -ENOMEM;
		*id = (uint32_t)stat_map__index(&c->map, row) + 1;
	}
	return 0;
}

char *callers__text(const struct analysis *a, const struct callers *c, uint32_t id)
{
	const char *before = "";
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (; id && id <= c->map.cnt; id = c->map.rows[id - 1].key.group) {
		fprintf(out, "%s%s", before, analysis__name(a, c->map.rows[id - 1].key.id));
		before = " < ";
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

void callers__free(struct callers *c)
{
	stat_map__free(&c->map);
}
