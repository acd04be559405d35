/* SPDX-License-Identifier: BSD-2-Clause */
/* The named spans of a thread that enclose an event, from the innermost. */
#ifndef PROFTRACE_CALLERS_H
#define PROFTRACE_CALLERS_H

#include "analysis/analysis.h"

/* as in group_by_stack_n of the PyTorch profiler; outer spans are left out */
#define CALLERS_MAX 5

struct callers {
	struct stat_map map; /* group: row of the next outer caller + 1; the stats are unused */
};

/* Sets *id to the id of the callers, 0 if there are none. 0 or -ENOMEM. */
int callers__id(struct callers *c, const struct span *s, bool (*is_caller)(const struct span *s),
		uint32_t *id);
/* "aten::linear < forward"; the caller frees. NULL: out of memory. */
char *callers__text(const struct analysis *a, const struct callers *c, uint32_t id);
void callers__free(struct callers *c);

#endif
