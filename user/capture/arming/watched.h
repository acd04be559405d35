/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What data breakpoints cost threads that do not hit them. On some processors (AMD's Zen 4, as
 * measured) string instructions take 20 to 30 times as long while one is set. A libc copies and
 * fills by these from some KiB on.
 */
#ifndef PROFTRACE_WATCHED_H
#define PROFTRACE_WATCHED_H

#include "capture/session.h"

/* Steps were measured: where breakpoints slow down so, those go that ranges or data loaders written
 * in Python need, if none was called in them. 0 or a negative errno of attaching. */
int watched__choose(struct session *s, uint64_t steps);
/* They slow down so here. */
bool watched__slows_copies(const struct session *s);

#endif
