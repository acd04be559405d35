/* SPDX-License-Identifier: BSD-2-Clause */
/* The shapes of operators' tensors as texts. Each text is kept once. */
#ifndef PROFTRACE_SHAPES_H
#define PROFTRACE_SHAPES_H

#include <jansson.h>
#include "model/model.h"

struct shapes {
	json_t *ids; /* text to id */
	const char **texts;
	size_t cnt, cap;
};

/* Sets *id to the id of a text such as "[[32, 64], [], [64]]", one entry per argument up to the
 * last tensor. 0: none was recorded. */
int shapes__id(struct shapes *s, const struct span *span, uint32_t *id);
const char *shapes__text(const struct shapes *s, uint32_t id); /* NULL for 0 */
void shapes__free(struct shapes *s);

#endif
