/* SPDX-License-Identifier: BSD-2-Clause */
/* jansson does not say why it failed: that there was no memory is found here. */
#ifndef PROFTRACE_JSON_MEMORY_H
#define PROFTRACE_JSON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

/* From now on, what this thread's jansson is denied is noted. */
void json_memory__watch(void);
/* Was it, since then? */
bool json_memory__lacked(void);

/* json_loadb() of a text that may be a stranger's: 0, -EBADMSG or -ENOMEM. Without memory jansson's own
 * reader writes past the end of a string (2.14): this one leaves it at once, and what it had so far. */
int json_memory__parse(const char *text, size_t len, json_t **out);

#endif
