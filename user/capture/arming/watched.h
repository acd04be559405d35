/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of data breakpoints to threads that do not hit them. On some processors (measured: AMD's Zen 4) string
 * instructions take 20 to 30 times as long while a breakpoint is set. A libc uses these instructions to copy and fill
 * from some KiB on.
 */
#ifndef PROFTRACE_WATCHED_H
#define PROFTRACE_WATCHED_H

#include "capture/session.h"

/* Call after steps were measured. If breakpoints slow copies down, detaches those of ranges or data loaders written in
 * Python, unless one was called. Returns 0 or a negative errno of attaching. */
int watched__choose(struct session *s, uint64_t steps);
/* Do breakpoints slow copies down on this machine? */
bool watched__slows_copies(const struct session *s);

#endif
