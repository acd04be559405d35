/* SPDX-License-Identifier: BSD-2-Clause */
/* Does a process use CUDA, and which libcupti fits it? Only reads. */
#ifndef PROFTRACE_CUPTI_FIND_H
#define PROFTRACE_CUPTI_FIND_H

#include "target/target.h"

/* Is the driver's library loaded? Then device activities can be seen. A process with only the
 * runtime has not used a device yet, and may never do so, because frameworks load the runtime also
 * without a device. */
bool cuda__has_driver(const struct target *t);
bool cuda__has_runtime(const struct target *t);

struct cupti_found {
	unsigned int major; /* major version of its newest CUDA library; 0: unknown */
	unsigned int older_major;  /* major version of another, older runtime; 0: it has none */
	unsigned int loaded_major; /* of the libcupti that is loaded; 0: none, or unknown */
	unsigned int chosen_major; /* of the libcupti that was chosen; 0: it is the loaded one */
	bool loaded;	    /* a libcupti is loaded, so it is used */
	bool unused;	    /* the chosen one is not used, because another one is loaded */
	char path[512];	    /* else: the one to load, as the process sees it; empty: none */
};

/*
 * Decides in this order: the libcupti that the process has; `chosen` (NULL: none); one of the
 * process's own major version. The last is searched beside its CUDA libraries, in its
 * site-packages, in its LD_LIBRARY_PATH and in toolkits. 0, or a negative errno with err__set:
 * -ENOENT (the process does not see the chosen one, or none was found), -ENOEXEC.
 */
int cupti__find(const struct target *t, const char *chosen, struct cupti_found *out);

/* Is the open file, which the user calls `chosen`, a libcupti? 0, or -ENOEXEC with err__set. */
int cupti__check_file(const char *chosen, int fd);
/* Sets the error for a file that is no libcupti. -ENOEXEC. */
int cupti__refuse(const char *chosen);

#endif
