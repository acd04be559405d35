/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that the user wants to see, whatever the program: --op, --op-returns, --step-probe. */
#ifndef PROFTRACE_USER_OPS_H
#define PROFTRACE_USER_OPS_H

#include "capture/capture.h"

/* Adds to the plan what the options name; errors name what was not found and what is near.
 * framework NULL: none, whose operators could be named. */
int user_ops__plan(const struct capture_opts *opts, const struct framework *framework,
		   struct target *t, struct probe_plan *plan);

/* " (it has overloads: aten::min.dim, ...)" where what --step-probe names is an operator that has others,
 * " (there is LIB:__FUNCTION, too)" of another function; else "". */
const char *user_ops__namesakes(const struct framework *framework, const char *step_probe,
				struct target *t, char *out, size_t size);

#endif
