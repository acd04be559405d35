/* SPDX-License-Identifier: BSD-2-Clause */
/* The address space of the target, as lines of /proc/PID/maps. */
#ifndef PROFTRACE_INJECT_MAPS_H
#define PROFTRACE_INJECT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct map_range {
	uint64_t start, end, offset;
	bool writable, executable, shared;
	char *path; /* "" if anonymous; without " (deleted)" */
};

struct maps {
	struct map_range *ranges; /* by address */
	size_t cnt;
};

int maps__read(pid_t pid, struct maps *out); /* 0 or a negative errno with err__set */
/* The same for the file's text, which is cut into pieces. 0 or -ENOMEM. */
int maps__parse(char *text, struct maps *out);
void maps__free(struct maps *m);
const struct map_range *maps__at(const struct maps *m, uint64_t addr); /* NULL if unmapped */
const char *maps__basename(const struct map_range *r);

/* An address with size free bytes and room around. 0 if there is none. */
uint64_t maps__gap(const struct maps *m, size_t size);

#endif
