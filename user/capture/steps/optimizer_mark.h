/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A data breakpoint is the best way to see an optimizer's step that is a function written in
 * Python. But in some virtual machines each hit costs as much as twenty probes, and each switch to
 * its thread as much as one. If steps are so short that this matters, the optimizer's operators
 * show the step instead, from a mark on. The mark is what the function does first, and other
 * functions seldom do.
 */
#ifndef PROFTRACE_OPTIMIZER_MARK_H
#define PROFTRACE_OPTIMIZER_MARK_H

#include "capture/session.h"

/* Plans the mark, not attached yet. 0 or -ENOMEM / -ENOSPC. */
int optimizer_mark__plan(struct session *s);
/* Steps were measured. If the breakpoint matters, compares for a few steps whether the mark and
 * the operators show the same. If so they take over. 0 or a negative errno of attaching or of
 * the ring. */
int optimizer_mark__try(struct session *s);

#endif
