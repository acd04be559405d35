/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that run the target's interpreter, and neither train nor load data. */
#ifndef PROFTRACE_HELPER_PROCESS_H
#define PROFTRACE_HELPER_PROCESS_H

#include <stddef.h>

enum helper_kind {
	HELPER_NONE,
	HELPER_TRACKER,	   /* multiprocessing's resource or semaphore tracker */
	HELPER_FORKSERVER, /* multiprocessing's; the processes that it forks may load data */
	HELPER_COMPILER,   /* a compile worker of torch.compile, or a child of one */
};

/* A command line as /proc/PID/cmdline has it: words, each with a NUL. text NULL: not known. */
struct command_line {
	const char *text;
	size_t len; /* bytes, without the last NUL or with it */
};

/* By its command line, and its parent's: a process that was only forked still shows that one.
 * Sources: CPython's multiprocessing/{resource_tracker,semaphore_tracker,forkserver}.py, loky,
 * torch/_inductor/compile_worker. */
enum helper_kind helper_process__kind(struct command_line own, struct command_line parent,
				      enum helper_kind parent_kind);
/* As the recording has it. */
const char *helper_kind__name(enum helper_kind kind);

#endif
