/* SPDX-License-Identifier: BSD-2-Clause */
/* The base of shares: the time of the whole steps so far, or of the window without steps. Only the
 * parts inside count. */
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
	struct stretch *items; /* adjacent steps are joined */
	size_t cnt, cap;
};
/* 0 or -ENOMEM */
int whole_time__add(struct whole_time *t, const struct step *step);
void whole_time__free(struct whole_time *t);

/* The length of that time, as measured. */
uint64_t analysis__whole_ns(const struct analysis *a);
/* Gives the parts of an interval that lie in whole time, the latest first. Set *at to 0 before the
 * first call. False: no more parts. */
bool analysis__part(const struct analysis *a, uint64_t begin, uint64_t end, size_t *at,
		    struct stretch *part);

#endif
