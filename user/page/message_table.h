/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_PAGE_MESSAGE_TABLE_H
#define PROFTRACE_PAGE_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Pages ---- */

#define MESSAGE_PAGE_OUT_OF_MEMORY MESSAGE("page.out-of-memory", "the page: out of memory")
#define MESSAGE_PAGE_STEPS_MISSING \
	MESSAGE("page.steps-missing", "--step %llu: the recording has no whole step")
#define MESSAGE_PAGE_STEP_NOT_RECORDED \
	MESSAGE("page.step-not-recorded", \
		"--step %llu: the recording has the steps %llu to %llu")

#endif
