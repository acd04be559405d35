/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A data breakpoint shows the step of an optimizer written in Python best. But in some virtual machines a hit costs as
 * much as twenty probes, and a switch to the thread costs as much as one. If steps are so short that this matters, a
 * mark and the optimizer's operators show the step instead. The mark is a call that the function makes first and that
 * other functions seldom make.
 */
#ifndef PROFTRACE_OPTIMIZER_MARK_H
#define PROFTRACE_OPTIMIZER_MARK_H

#include "capture/session.h"

/* Plans the mark without attaching it. Returns 0 or -ENOMEM / -ENOSPC. */
int optimizer_mark__plan(struct session *s);
/* Call after steps were measured. If the breakpoint's cost matters, compares for a few steps whether mark and operators
 * show the same step as the breakpoint. If so, they replace the breakpoint. Returns 0 or a negative errno of attaching
 * or of the ring. */
int optimizer_mark__try(struct session *s);

#endif
