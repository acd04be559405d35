/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends for functions that have none of their own and let exceptions pass: the programs note where
 * their calls return to, and a probe goes behind each such call.
 */
#ifndef PROFTRACE_LANDINGS_H
#define PROFTRACE_LANDINGS_H

#include "capture/session.h"

/* Probes for the places that were noted since the last time. While a window is open what it shows
 * stays the same. */
int landings__adjust(struct session *s);

#endif
