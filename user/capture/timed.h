/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows of a program that shows no steps, or only iteration ranges of proftrace.h. This file opens and closes them on
 * command; the BPF programs do not. `proftrace ctl` and --dump-every treat them like windows of steps.
 */
#ifndef PROFTRACE_TIMED_H
#define PROFTRACE_TIMED_H

#include <stdbool.h>

struct session;

/* From now on windows open and close by time. Opens the first window, unless the session is paused. Returns 0 or a
 * negative errno. */
int timed__begin(struct session *s);
/* Closes the open window. component_window_file completes its file soon after. */
void timed__close(struct session *s);

#endif
