/* SPDX-License-Identifier: BSD-2-Clause */
/* A monitor of a few processes, for `top -p`: it ends with us, and its files with it. */
#ifndef PROFTRACE_OWN_MONITOR_H
#define PROFTRACE_OWN_MONITOR_H

#include <sys/types.h>
#include "monitor/rules.h"

struct own_monitor {
	pid_t pid; /* 0: none */
	char token[33]; /* with which windows are asked for */
	int log;   /* what it says on stderr: a file in memory */
	char directory[64], socket[80];
};

/* allow: the processes. 0, or a negative errno with err__set. */
int own_monitor__start(struct own_monitor *m, const struct rules *allow);
/* Sends SIGTERM and waits until its sessions have left the processes. */
void own_monitor__stop(struct own_monitor *m);

#endif
