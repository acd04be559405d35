/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Return sites, for functions without a visible end that exceptions may leave. The BPF programs note to which addresses
 * calls return. Each such address gets a probe.
 */
#ifndef PROFTRACE_RETURN_SITES_H
#define PROFTRACE_RETURN_SITES_H

#include "capture/session.h"

/* Does the plan have such functions? */
bool return_sites__are_needed(const struct session *s);

#endif
