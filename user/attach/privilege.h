/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_PRIVILEGE_H
#define PROFTRACE_PRIVILEGE_H

/* Has this process the capabilities for loading and attaching? 0, or -EPERM with err__set that
 * names those it lacks. */
int privilege__require(void);

#endif
