/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of a process in /proc, read with bounds because the process controls many of them. */
#ifndef PROFTRACE_PROCESS_FACTS_H
#define PROFTRACE_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_facts {
	pid_t pid, parent;
	uint64_t start_ticks; /* since boot */
	bool is_kernel;
	char command[16]; /* of /proc/PID/comm */
};

/* 0 or a negative errno: the process is gone. */
int process_facts__read(pid_t pid, struct process_facts *out);
/* The same from a line of /proc/PID/stat. -EINVAL; -ESRCH: it has ended, but its parent has not
 * waited for it. */
int process_facts__parse(const char *line, struct process_facts *out);
/* Nanoseconds since its start, including time of suspension. */
uint64_t process_facts__age_ns(const struct process_facts *p);
/* Does the process map code of a framework? Opens none of its files. */
bool process_facts__maps_framework(pid_t pid);
/* The same for the text of /proc/PID/maps. */
bool process_facts__has_framework(const char *maps);
/* Does it run our own program, perhaps for another session? */
bool process_facts__is_proftrace(pid_t pid);
/* Text of /proc/PID/cgroup; caller frees; "" if it is gone, NULL: no memory. */
char *process_facts__cgroup(pid_t pid);
/* The name of the program file without its directory. If that is a Python, then of the script or module that it runs
 * ("ipykernel_launcher" of `python -m ipykernel_launcher`). The process can change it. "": unknown. */
void process_facts__program(pid_t pid, char *out, size_t size);
/* The same from /proc/PID/cmdline, of which len bytes are given. */
void process_facts__program_of(const char *arguments, size_t len, char *out, size_t size);
/* (uid_t)-1: the process is gone. */
uid_t process_facts__user(pid_t pid);

#endif
