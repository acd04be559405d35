/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Return sites, for functions that have no end of their own and let exceptions pass. The programs
 * note where their calls return to, and a probe goes behind each such call.
 */
#ifndef PROFTRACE_RETURN_SITES_H
#define PROFTRACE_RETURN_SITES_H

#include "capture/session.h"

/* Are there such functions? */
bool return_sites__are_needed(const struct session *s);

#endif
