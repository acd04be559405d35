/* SPDX-License-Identifier: BSD-2-Clause */
/* USDT probes of a program: those of include/proftrace.h, and those that the user names. */
#ifndef PROFTRACE_USER_USDT_H
#define PROFTRACE_USER_USDT_H

#include "capture/capture.h"

/* Plans the probes of the process's files: all of include/proftrace.h, and as marks those that --usdt names. */
int user_usdt__plan(const struct capture_opts *opts, struct target *t, struct probe_plan *plan);

/* Has the executable itself probes of proftrace.h? */
bool user_usdt__has_own(struct target *t);
/* The number of probes of proftrace.h in the program and its libraries. */
size_t user_usdt__own_cnt(struct target *t);
/* Does the plan have probes of iteration ranges? */
bool user_usdt__has_iterations(const struct probe_plan *plan);

#endif
