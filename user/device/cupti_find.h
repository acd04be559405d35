/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a process uses CUDA, and which libcupti belongs to it. Only looks. */
#ifndef PROFTRACE_CUPTI_FIND_H
#define PROFTRACE_CUPTI_FIND_H

#include "target/target.h"

/* The driver's library is there: what a device does can be seen. With the runtime's alone it has
 * not been used yet, and perhaps never is: frameworks load it without a device, too. */
bool cuda__has_driver(const struct target *t);
bool cuda__has_runtime(const struct target *t);

struct cupti_found {
	unsigned int major; /* of its CUDA libraries, the newest; 0: not known */
	unsigned int older_major;  /* of another runtime that it has; 0: it has none */
	unsigned int loaded_major; /* of the libcupti that it has already; 0: none, or not known */
	unsigned int chosen_major; /* of the one that is given for it; 0: as loaded_major */
	bool loaded;	    /* it has a libcupti already, which is used */
	bool unused;	    /* `chosen` is not, since that is another */
	char path[512];	    /* the one to load otherwise, as the process sees it; empty: none */
};

/*
 * The one that the process has; else `chosen` (NULL: none); else one of its own major version. The
 * latter is looked for beside its CUDA libraries, in its site-packages, in its LD_LIBRARY_PATH and
 * in toolkits. 0, or a negative errno with err__set: -ENOENT (it does not see the chosen one, or
 * none was found), -ENOEXEC.
 */
int cupti__find(const struct target *t, const char *chosen, struct cupti_found *out);

/* Whether an open file, that the user calls `chosen`, is a libcupti at all: 0, or -ENOEXEC with
 * err__set. */
int cupti__check_file(const char *chosen, int fd);
/* -ENOEXEC, with the message of one that is none. */
int cupti__refuse(const char *chosen);

#endif
