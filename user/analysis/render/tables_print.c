// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/render/tables_print.h"
#include "analysis/render/table_internal.h"
#include "common/err.h"
#include "common/text_char.h"

static int print_csv(struct table *const *tables, size_t cnt, struct table_style style, FILE *out)
{
	int err = 0;

	style.shown = text__is_shown(out);
	for (size_t i = 0; i < cnt && !err; i++) {
		if (i)
			fputs("\r\n", out);
		err = table__print_csv(tables[i], &style, out);
	}
	return err;
}

int tables__print(struct table *const *tables, size_t cnt, const struct table_style *style,
		  FILE *out)
{
	int err = 0;

	if (style->format == TABLE_JSON)
		return tables__print_json(tables, cnt, style, out);
	if (style->format == TABLE_GRID)
		return tables__print_grid(tables, cnt, style, out);
	if (style->format == TABLE_CSV)
		err = print_csv(tables, cnt, *style, out);
	for (size_t i = 0; i < cnt && !err && style->format != TABLE_CSV; i++) {
		if (i && !(tables[i]->list && tables[i - 1]->list && tables[i]->is_short))
			fputc('\n', out);
		err = table__print_text(tables[i], style, out);
	}
	if (!err && (fflush(out) || ferror(out)))
		err = err__unwritten("the report");
	return err;
}
