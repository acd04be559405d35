/* SPDX-License-Identifier: BSD-2-Clause */
/* Which signs of steps the programs have seen since the attach. */
#ifndef PROFTRACE_STEP_CLASSES_H
#define PROFTRACE_STEP_CLASSES_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/ctl.h"

/* Was any class seen at least `times` times? */
static inline bool any_seen(const struct pt_ctl *ctl, uint64_t times)
{
	for (int c = 1; c < PT_CLASS_CNT; c++)
		if (ctl->class_seen[c] >= times)
			return true;
	return false;
}

static inline bool nothing_seen(const struct pt_ctl *ctl)
{
	return !any_seen(ctl, 1);
}

#endif
