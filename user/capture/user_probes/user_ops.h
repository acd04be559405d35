/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that the user names in any program: --op, --op-returns, --step-probe. */
#ifndef PROFTRACE_USER_OPS_H
#define PROFTRACE_USER_OPS_H

#include "capture/capture.h"

/* Adds the named functions to the plan. An error names what was not found, and similar names. framework NULL: operator
 * names are unknown. */
int user_ops__plan(const struct capture_opts *opts, const struct framework *framework,
		   struct target *t, struct probe_plan *plan);

enum namesakes {
	NAMESAKES_NONE,
	NAMESAKES_OVERLOADS,   /* overloads of an operator: "aten::min.dim, ..." */
	NAMESAKES_UNDERSCORED, /* another function: "LIB:__FUNCTION" */
};

/* Functions with names like the one of --step-probe; out: a list of them. */
enum namesakes user_ops__namesakes(const struct framework *framework, const char *step_probe,
				   struct target *t, char *out, size_t size);

#endif
