/* SPDX-License-Identifier: BSD-2-Clause */
/* How a recording command handles signals. */
#ifndef PROFTRACE_SIGNALS_H
#define PROFTRACE_SIGNALS_H

#include "capture/capture.h"
#include <stdbool.h>
#include <sys/types.h>

/* on: Ctrl-C and similar signals end a capture in order, see signals_stop. Off: they end proftrace again,
 * or the program of `run`. */
void signals__catch(bool on);
/* What the signals ask of the capture. */
extern struct capture_stop signals_stop;

/*
 * `run` takes the place of its program. So a scheduler or a container that wants the program to
 * end, or to save its state, signals proftrace. From now on SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2
 * are passed to the program. Ctrl-C is not: it ends the window.
 */
void signals__pass_to(pid_t program);

/* The capture is over: Ctrl-C is passed on, too, to all processes of the program, as a terminal
 * does. */
void signals__pass_all(void);

#endif
