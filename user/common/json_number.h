/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_JSON_NUMBER_H
#define PROFTRACE_JSON_NUMBER_H

#include <jansson.h>
#include <stdint.h>

/* The number, or 0 if it is missing or negative. */
uint64_t json__positive(const json_t *object, const char *key);

#endif
