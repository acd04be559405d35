/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps that come in turns. A job may train several networks one after the other, without a data
 * loader. Then each optimizer step ends a step, although the user means a whole turn by "step".
 */
#ifndef PROFTRACE_TURNS_H
#define PROFTRACE_TURNS_H

#include "model/model.h"

struct turns {
	uint64_t *signatures; /* of each step's operators; steps in order */
	size_t cnt, cap;
	uint64_t step; /* index of the latest step */
};

/* Adds a batch. Does nothing outside of steps. 0 or -ENOMEM. */
int turns__add(struct turns *t, const struct batch *b);
/* The number of different steps that repeat in turns, by their operators. 0: there are no turns. */
size_t turns__length(const struct turns *t);
void turns__free(struct turns *t);

#endif
