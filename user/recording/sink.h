/* SPDX-License-Identifier: BSD-2-Clause */
/* The destination of a recording's bytes: a file, or memory. Both are a descriptor, but they are
 * opened and closed differently. */
#ifndef PROFTRACE_RECORDING_SINK_H
#define PROFTRACE_RECORDING_SINK_H

#include <stdbool.h>
#include "common/out_file.h"

struct sink {
	char *name; /* for messages: the file's path */
	int fd;	    /* to write; -1: closed */
	struct out_file file; /* fd -1: memory */
};

#define SINK_NONE ((struct sink){.fd = -1, .file = OUT_FILE_NONE})

/* Opens the file. An earlier recording there is renamed to PATH.old; another file is not
 * overwritten. 0 or a negative errno with err__set. */
int sink__open_file(struct sink *s, const char *path);
/* The same for memory, a file of memfd_create(2) that the caller keeps. */
int sink__open_memory(struct sink *s, int memfd, const char *name);
/* Without `kept` a file is removed. The name stays in s. 0 or a negative errno. */
int sink__close(struct sink *s, bool kept);
/* Cause and next step of a write error, as of err__take(). */
const char *sink__explain(int err);

#endif
