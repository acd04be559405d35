/* SPDX-License-Identifier: BSD-2-Clause */
/* One line of /proc/PID/maps. */
#ifndef PROFTRACE_MAPPING_H
#define PROFTRACE_MAPPING_H

#include "target/target_priv.h"

struct mapping {
	uint64_t start, end, offset;
	unsigned int dev_major, dev_minor;
	uint64_t inode;
	char *path; /* in the line; NUL-terminated */
	bool executable;
};

/* Cuts the line up; false: it is none. */
bool mapping__parse(char *line, struct mapping *m);
/* A path that opens the file behind a mapping here; NULL: out of memory. `path`: without
 * " (deleted)". */
char *mapping__host_path(const struct target *t, const struct mapping *m, const char *path,
			 bool *deleted);

#endif
