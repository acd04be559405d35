/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that run the target's interpreter but neither train nor load data. */
#ifndef PROFTRACE_HELPER_PROCESS_H
#define PROFTRACE_HELPER_PROCESS_H

#include <stddef.h>

enum helper_kind {
	HELPER_NONE,
	HELPER_TRACKER,	   /* multiprocessing's resource or semaphore tracker */
	HELPER_FORKSERVER, /* multiprocessing's fork server; processes that it forks may load
			      data */
	HELPER_COMPILER,   /* a compile worker of torch.compile, or a child of one */
};

/* A command line as in /proc/PID/cmdline: words, each followed by a NUL. text NULL: unknown. */
struct command_line {
	const char *text;
	size_t len; /* length in bytes; the last NUL may be missing */
};

/* Decides by the process's command line and its parent's, because a forked process still shows that
 * one. Sources: CPython's multiprocessing/{resource_tracker,semaphore_tracker,forkserver}.py, loky,
 * torch/_inductor/compile_worker. */
enum helper_kind helper_process__kind(struct command_line own, struct command_line parent,
				      enum helper_kind parent_kind);
/* The name in the recording. */
const char *helper_kind__name(enum helper_kind kind);

#endif
