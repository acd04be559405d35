/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session knows about the target and the processes beside it. */
#ifndef PROFTRACE_PROCESSES_H
#define PROFTRACE_PROCESSES_H

#include "capture/processes/alive.h"
#include "capture/processes/await.h"
#include "capture/processes/follow.h"

#endif
