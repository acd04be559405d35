/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON on a terminal. */
#ifndef PROFTRACE_JSON_OUT_H
#define PROFTRACE_JSON_OUT_H

#include <jansson.h>
#include "common/text_char.h"

/* More flags for json_dumpf(). On a terminal, every character that is not ASCII is \uNNNN, because
 * some could move the cursor or reorder text. */
static inline size_t json_out__flags(FILE *out)
{
	return text__is_shown(out) ? JSON_ENSURE_ASCII : 0;
}

#endif
