/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON on a terminal. */
#ifndef PROFTRACE_JSON_OUT_H
#define PROFTRACE_JSON_OUT_H

#include <jansson.h>
#include "common/text_char.h"

/* What json_dumpf() is told besides: on a terminal, characters that could move its cursor or reorder
 * text are \uNNNN, with all others that are not ASCII. */
static inline size_t json_out__flags(FILE *out)
{
	return text__is_shown(out) ? JSON_ENSURE_ASCII : 0;
}

#endif
