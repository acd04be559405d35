/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that the user wants to see, whatever the program: --op, --op-returns, --step-probe. */
#ifndef PROFTRACE_USER_OPS_H
#define PROFTRACE_USER_OPS_H

#include "capture/capture.h"

/* Adds to the plan what the options name; errors name what was not found and what is near.
 * framework NULL: none, whose operators could be named. */
int user_ops__plan(const struct capture_opts *opts, const struct framework *framework,
		   struct target *t, struct probe_plan *plan);

enum namesakes {
	NAMESAKES_NONE,
	NAMESAKES_OVERLOADS,   /* of an operator: "aten::min.dim, ..." */
	NAMESAKES_UNDERSCORED, /* of another function: "LIB:__FUNCTION" */
};

/* Of what --step-probe names; out: a list. */
enum namesakes user_ops__namesakes(const struct framework *framework, const char *step_probe,
				   struct target *t, char *out, size_t size);

#endif
