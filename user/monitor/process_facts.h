/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says of a process, read with bounds: the process chose much of it. */
#ifndef PROFTRACE_PROCESS_FACTS_H
#define PROFTRACE_PROCESS_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_facts {
	pid_t pid, parent;
	uint64_t start_ticks; /* since boot */
	bool is_kernel;
	char command[16]; /* of /proc/PID/comm */
};

/* 0 or a negative errno: it is gone. */
int process_facts__read(pid_t pid, struct process_facts *out);
/* The same of a line of /proc/PID/stat; -EINVAL; -ESRCH: it has ended and nobody has waited for it. */
int process_facts__parse(const char *line, struct process_facts *out);
/* Nanoseconds since it was started; suspended time counts. */
uint64_t process_facts__age_ns(const struct process_facts *p);
/* Is the code of a framework mapped there? Its files are not opened. */
bool process_facts__maps_framework(pid_t pid);
/* The same of the text of /proc/PID/maps. */
bool process_facts__has_framework(const char *maps);
/* Does it run our own program, of another session perhaps? */
bool process_facts__is_proftrace(pid_t pid);
/* Text of /proc/PID/cgroup; caller frees; "" if it is gone, NULL: no memory. */
char *process_facts__cgroup(pid_t pid);
/* (uid_t)-1: it is gone. */
uid_t process_facts__user(pid_t pid);

#endif
