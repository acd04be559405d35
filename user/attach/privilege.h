/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_PRIVILEGE_H
#define PROFTRACE_PRIVILEGE_H

#include <stdbool.h>
#include "attach/attach.h"

/* Has this process the capabilities for loading and attaching? 0, or -EPERM with err__set that
 * names those it lacks. */
int privilege__require(void);

/* Whether probes of this method need CAP_SYS_ADMIN as long as they come and go. Perf events do since
 * Linux 6.16, and need CAP_PERFMON before that. Asked of the kernel once, by a child. */
bool privilege__keeps_admin(enum attach_method method);

#endif
