/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal of a program that `run` started. It has a process group of its own, so that Ctrl-C
 * is ours. The kernel stops a group that is not in the foreground when it reads the terminal, or
 * sets its modes. Then the program becomes the foreground, as below a shell, and Ctrl-C is its own
 * from there on. Ctrl-Z stops both, whoever has the terminal, and `fg` continues both.
 */
#ifndef PROFTRACE_JOB_CONTROL_H
#define PROFTRACE_JOB_CONTROL_H

#include <sys/types.h>

/* program leads its group. Without a terminal nothing is done. */
void job_control__begin(pid_t program);
/* The terminal is ours again. */
void job_control__end(void);

#endif
