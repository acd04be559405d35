/* SPDX-License-Identifier: BSD-2-Clause */
/* How the programs follow an optimizer's step across a change of its probe or breakpoint. */
#ifndef PROFTRACE_OPTIMIZER_COUNT_H
#define PROFTRACE_OPTIMIZER_COUNT_H

#include "frameworks/framework.h"

struct session;

/* Call before its probe or breakpoint is attached: a call may be under way then. Breakpoints come
 * thread by thread, and the count may be written meanwhile. The first write that is seen would not
 * tell the old value, so the count is read after they are attached. */
void optimizer_step__forget(struct session *s, enum probe_group group);
void optimizer_step__read_count(struct session *s);

#endif
