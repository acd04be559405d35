/* SPDX-License-Identifier: BSD-2-Clause */
/* A monitor of a few processes, for `top -p` and `top --job`. It ends with this program and removes
 * its files. */
#ifndef PROFTRACE_OWN_MONITOR_H
#define PROFTRACE_OWN_MONITOR_H

#include <stdbool.h>
#include <sys/types.h>
#include "monitor/rules.h"

struct own_monitor {
	pid_t pid; /* 0: none */
	char token[33]; /* token for requests to record a window */
	int log;   /* its stderr: a file in memory */
	char directory[64], socket[80];
};

/* allow: which processes to watch. device_times: as --device-times. 0, or a negative errno with
 * err__set. */
int own_monitor__start(struct own_monitor *m, const struct rules *allow, bool device_times);
/* Sends SIGTERM and waits until its sessions have detached. */
void own_monitor__stop(struct own_monitor *m);

#endif
