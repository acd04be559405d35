/* SPDX-License-Identifier: BSD-2-Clause */
/* "Did you mean": finds the nearest of the offered names, by optimal string alignment distance. */
#ifndef PROFTRACE_SUGGEST_H
#define PROFTRACE_SUGGEST_H

#include <stddef.h>

struct suggestion {
	const char *word; /* as typed */
	size_t len;	  /* of word, in bytes */
	const char *best; /* the nearest name offered so far, NULL if none is near enough */
	size_t distance;  /* edits between word and best */
};

/* A name is near enough if it takes at most one edit per three typed letters, or begins with
 * word. */
void suggest__offer(struct suggestion *s, const char *name);

#endif
