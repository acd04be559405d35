/* SPDX-License-Identifier: BSD-2-Clause */
/* One line of /proc/PID/maps. */
#ifndef PROFTRACE_MAPPING_H
#define PROFTRACE_MAPPING_H

#include "target/target_priv.h"

struct mapping {
	uint64_t start, end, offset;
	unsigned int dev_major, dev_minor;
	uint64_t inode;
	char *path; /* inside the line; NUL-terminated */
	bool executable;
};

/* Splits the line. False: it is no such line. */
bool mapping__parse(char *line, struct mapping *m);
/* A path by which this process opens the file behind a mapping. NULL: out of memory. `path`:
 * without " (deleted)". */
char *mapping__host_path(const struct target *t, const struct mapping *m, const char *path,
			 bool *deleted);

#endif
