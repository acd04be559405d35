// SPDX-License-Identifier: BSD-2-Clause
/* Texts as /proc/PID/maps has them, whose paths the process chose, through both of their readers.
 */
#include <string.h>
#include "fuzz_text.h"
#include "common/util.h"
#include "inject/maps.h"
#include "target/mapping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t weight;

static void see_ranges(const struct maps *m)
{
	for (size_t i = 0; i < m->cnt; i++) {
		const struct map_range *r = &m->ranges[i];

		weight += strlen(r->path) + strlen(maps__basename(r));
		maps__at(m, r->start);
	}
	weight += maps__gap(m, 1 << 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = text_of(data, size), *again = text_of(data, size);
	char *rest = NULL;
	struct mapping mapping;
	struct maps maps;

	if (!maps__parse(text, &maps)) {
		see_ranges(&maps);
		maps__free(&maps);
	}
	for (char *line = strtok_r(again, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (mapping__parse(line, &mapping))
			weight += strlen(mapping.path) + mapping.executable;
	return 0;
}
