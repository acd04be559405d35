/* SPDX-License-Identifier: BSD-2-Clause */
/* jansson does not say why it could not read a text: that there was no memory is found here. */
#ifndef PROFTRACE_JSON_MEMORY_H
#define PROFTRACE_JSON_MEMORY_H

#include <stdbool.h>

/* From now on, what this thread's jansson is denied is noted. */
void json_memory__watch(void);
/* Was it, since then? */
bool json_memory__lacked(void);

#endif
