/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_MODEL_MESSAGE_TABLE_H
#define PROFTRACE_MODEL_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Trees ---- */

#define MESSAGE_TREES_OUT_OF_MEMORY \
	MESSAGE("model.trees-out-of-memory", "the recording's trees: out of memory")

#endif
