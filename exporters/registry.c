// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>
#include "exporters/exporters.h"

static const struct exporter *const rows[] = {
	&exporter_chrome,
	&exporter_folded,
	&exporter_speedscope,
	&exporter_perfetto,
	&exporter_pprof,
	&exporter_sqlite,
	&exporter_csv,
	&exporter_jsonl,
	&exporter_cuda_profiler,
	&exporter_paddle_proto,
	&exporter_gpu_memory_profile,
	NULL,
};

const struct exporter *const *exporters__all(void)
{
	return rows;
}

const struct exporter *exporter__find(const char *name)
{
	for (const struct exporter *const *e = rows; *e; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	return NULL;
}
