// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include "analysis/render/table.h"

struct time_text time_text__of(const struct table_style *style, uint64_t ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {[UNIT_S] = {"s", 1e9},
		     [UNIT_MS] = {"ms", 1e6},
		     [UNIT_US] = {"us", 1e3},
		     [UNIT_NS] = {"ns", 1}};
	enum time_unit unit = style->unit;
	struct time_text text;
	int digits = 3;
	double value;

	if (!style->unit_chosen)
		for (unit = UNIT_S; unit < UNIT_NS && (double)ns < units[unit].ns; unit++)
			;
	value = (double)ns / units[unit].ns;
	if (!style->unit_chosen)
		digits = value < 10 ? 3 : value < 100 ? 2 : 1;
	snprintf(text.s, sizeof(text.s), "%.*f %s", unit == UNIT_NS ? 0 : digits, value,
		 units[unit].name);
	return text;
}
