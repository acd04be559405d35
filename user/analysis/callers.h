/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands around an event: the named spans of its thread that enclose it, from the innermost.
 */
#ifndef PROFTRACE_CALLERS_H
#define PROFTRACE_CALLERS_H

#include "analysis/analysis.h"

#define CALLERS_MAX                                                                                \
	5 /* outer ones are left out, as group_by_stack_n of the PyTorch profiler does */

struct callers {
	struct stat_map map; /* group: the caller's row + 1; no stats */
};

/* *id of the callers, 0: there are none. -ENOMEM. */
int callers__id(struct callers *c, const struct span *s, bool (*is_caller)(const struct span *s),
		uint32_t *id);
/* "aten::linear < forward"; the caller frees. NULL: out of memory. */
char *callers__text(const struct analysis *a, const struct callers *c, uint32_t id);
void callers__free(struct callers *c);

#endif
