// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/core_dumps.h"
#include <sys/prctl.h>
#include <sys/resource.h>

void core_dumps__forbid(void)
{
	const struct rlimit none = {0};

	setrlimit(RLIMIT_CORE, &none);
	/* RLIMIT_CORE has no effect on a program to which core_pattern pipes. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
