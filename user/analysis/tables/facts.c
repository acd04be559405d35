// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/tables/facts.h"

int facts__add(struct table *t, const struct fact *facts, size_t cnt)
{
	struct cell cells[FACTS_MAX];
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct fact *f = &facts[i];
		const struct column c = {f->key, f->title, 0, NULL,
					 f->type ? f->type : f->cell.type};

		if (!f->key)
			continue;
		cells[n++] = f->cell;
		err = table__add_column(t, &c);
	}
	table__set_list(t);
	return err ? err : table__add_row(t, 0, cells);
}
