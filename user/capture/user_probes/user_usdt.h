/* SPDX-License-Identifier: BSD-2-Clause */
/* USDT probes of a program: those of include/proftrace.h, and others that the user names. */
#ifndef PROFTRACE_USER_USDT_H
#define PROFTRACE_USER_USDT_H

#include "capture/capture.h"

/* Adds what the process's files have to the plan. Of include/proftrace.h all; of others what
 * --usdt names, as marks. */
int user_usdt__plan(const struct capture_opts *opts, struct target *t, struct probe_plan *plan);

/* Has the program itself any of proftrace.h? */
bool user_usdt__has_own(struct target *t);
/* How many of these the program and its libraries have. */
size_t user_usdt__own_cnt(struct target *t);
/* May frames come? Their probes are in the plan. */
bool user_usdt__has_iterations(const struct probe_plan *plan);

#endif
