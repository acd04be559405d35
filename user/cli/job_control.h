/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal of a program that `run` started. The program has a process group of its own, so
 * Ctrl-C reaches proftrace alone. The kernel stops a background group that reads the terminal or
 * sets its modes. Then proftrace makes the program the foreground group, as a shell does. From
 * there on Ctrl-C reaches the program alone. Ctrl-Z stops both, whoever has the terminal, and `fg`
 * continues both.
 */
#ifndef PROFTRACE_JOB_CONTROL_H
#define PROFTRACE_JOB_CONTROL_H

#include <sys/types.h>

/* The program leads its group. Does nothing without a terminal. */
void job_control__begin(pid_t program);
/* Takes the terminal back. */
void job_control__end(void);

#endif
