/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows of a program that shows no steps, or only iteration ranges of proftrace.h. They open and
 * close on command, from here and not in the BPF programs. `proftrace ctl` and --dump-every
 * treat them like windows of steps.
 */
#ifndef PROFTRACE_TIMED_H
#define PROFTRACE_TIMED_H

#include <stdbool.h>

struct session;

/* Windows are of this kind from now on; opens the first, unless the session is paused. 0 or a
 * negative errno. */
int timed__begin(struct session *s);
/* Ends the window that is open; its file is complete soon after, see component_window_file. */
void timed__close(struct session *s);

#endif
