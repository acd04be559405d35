/* SPDX-License-Identifier: BSD-2-Clause */
/* jansson does not say why it failed. This file finds out whether memory was short. */
#ifndef PROFTRACE_JSON_MEMORY_H
#define PROFTRACE_JSON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

/* From now on, failed allocations of this thread's jansson are noted. */
void json_memory__watch(void);
/* Did an allocation fail since json_memory__watch()? */
bool json_memory__lacked(void);

/* json_loadb() of a text that may be hostile: 0, -EBADMSG or -ENOMEM. Without memory, jansson's own
 * reader writes past the end of a string (2.14). So this function leaves the reader at once and
 * leaks what it had. */
int json_memory__parse(const char *text, size_t len, json_t **out);

#endif
