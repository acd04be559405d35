/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_JSON_NUMBER_H
#define PROFTRACE_JSON_NUMBER_H

#include <jansson.h>
#include <stdint.h>

/* 0: it is not there, or negative. */
uint64_t json__positive(const json_t *object, const char *key);

#endif
