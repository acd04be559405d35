/* SPDX-License-Identifier: BSD-2-Clause */
/* What signals mean to a command that records. */
#ifndef PROFTRACE_SIGNALS_H
#define PROFTRACE_SIGNALS_H

#include "capture/capture.h"
#include <stdbool.h>
#include <sys/types.h>

/* Ctrl-C and the like end a capture in order, see signals_stop; or end proftrace again, or the program
 * of `run`. */
void signals__catch(bool on);
/* What they ask of the capture. */
extern struct capture_stop signals_stop;

/*
 * `run` stands where its program would: who would tell the program to end or to save its state
 * (a scheduler, a container) tells us. From now on SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 reach it,
 * too. Ctrl-C does not: it ends the window.
 */
void signals__pass_to(pid_t program);

/* The capture is over: Ctrl-C is for the program, too, and all its processes, as from a terminal. */
void signals__pass_all(void);

#endif
