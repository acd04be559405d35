/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_PRIVILEGE_H
#define PROFTRACE_PRIVILEGE_H

#include <stdbool.h>
#include "attach/attach.h"

/* Does this process have the capabilities for loading and attaching? 0, or -EPERM with err__set
 * that names the missing ones. */
int privilege__require(void);

/* Do probes of this method need CAP_SYS_ADMIN as long as they are attached and detached? Perf
 * events do since Linux 6.16; before that they need CAP_PERFMON. A child asks the kernel once. */
bool privilege__keeps_admin(enum attach_method method);

#endif
