/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the bytes of a recording go: a file, or memory. Both are a descriptor; they differ in their begin and end. */
#ifndef PROFTRACE_RECORDING_SINK_H
#define PROFTRACE_RECORDING_SINK_H

#include <stdbool.h>
#include "common/out_file.h"

struct sink {
	char *name; /* for messages: the file's path */
	int fd;	    /* where to write; -1: closed */
	struct out_file file; /* fd -1: memory */
};

#define SINK_NONE ((struct sink){.fd = -1, .file = OUT_FILE_NONE})

/* A recording of that path moves aside, to PATH.old; another file is not overwritten. 0 or a negative errno with
 * err__set. */
int sink__open_file(struct sink *s, const char *path);
/* Memory that the caller has as a file of memfd_create(2), and keeps. The same. */
int sink__open_memory(struct sink *s, int memfd, const char *name);
/* Without `kept` a file goes again. The name stays. 0 or a negative errno. */
int sink__close(struct sink *s, bool kept);
/* Cause and next step of an error of writing, as of err__take(). */
const char *sink__explain(int err);

#endif
