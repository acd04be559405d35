/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps that come in turns. A job may train several networks one after the other and show no data
 * loader. Then each optimizer's step ends a step, though its user calls all of a turn a step.
 */
#ifndef PROFTRACE_TURNS_H
#define PROFTRACE_TURNS_H

#include "model/model.h"

struct turns {
	uint64_t *signatures; /* of each step's operators, in order */
	size_t cnt, cap;
	uint64_t step; /* index of the latest */
};

/* Adds a batch; nothing if it is of no step. 0 or -ENOMEM. */
int turns__add(struct turns *t, const struct batch *b);
/* How many different steps follow one another again and again, by their operators; 0: none do. */
size_t turns__length(const struct turns *t);
void turns__free(struct turns *t);

#endif
