// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/core_dumps.h"
#include <sys/resource.h>

void core_dumps__forbid(void)
{
	const struct rlimit none = {0};

	setrlimit(RLIMIT_CORE, &none);
}
