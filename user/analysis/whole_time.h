/* SPDX-License-Identifier: BSD-2-Clause */
/* The time that shares are of: the whole steps so far, or the window where there are none. What
 * crosses its edge counts with the parts inside. */
#ifndef PROFTRACE_WHOLE_TIME_H
#define PROFTRACE_WHOLE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;
struct step;
struct stretch {
	uint64_t begin, end;
};
struct whole_time {
	struct stretch *items; /* steps that follow each other are one */
	size_t cnt, cap;
};
/* 0 or -ENOMEM */
int whole_time__add(struct whole_time *t, const struct step *step);
void whole_time__free(struct whole_time *t);

/* Its length, as measured. */
uint64_t analysis__whole_ns(const struct analysis *a);
/* The parts of an interval that lie in it, the latest first: *at is 0 before the first. false: no
 * more. */
bool analysis__part(const struct analysis *a, uint64_t begin, uint64_t end, size_t *at,
		    struct stretch *part);

#endif
