/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A data breakpoint tells best of an optimizer's step that is a function written in Python, but in
 * some virtual machines each hit of it costs as much as twenty probes, and each switch to its thread
 * one. Where steps are so short that this matters, the optimizer's operators tell instead, from a
 * mark on: what the function does first, which others seldom do.
 */
#ifndef PROFTRACE_OPTIMIZER_MARK_H
#define PROFTRACE_OPTIMIZER_MARK_H

#include "capture/session.h"

/* Plans the mark, not attached yet. 0 or -ENOMEM / -ENOSPC. */
int optimizer_mark__plan(struct session *s);
/* Steps were measured: where the breakpoint matters, looks for a few steps whether the mark and the
 * operators tell the same; if so they do from here on. 0 or a negative errno of attaching or of the
 * ring. */
int optimizer_mark__try(struct session *s);

#endif
