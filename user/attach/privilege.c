// SPDX-License-Identifier: BSD-2-Clause
#include "attach/privilege.h"
#include <errno.h>
#include "common/capability.h"
#include "common/err.h"

int privilege__require(void)
{
	const char *lack = capability__lack(CAPABILITIES_TO_LOAD);

	return *lack ? err__set(-EPERM, "may not load BPF programs: %s", lack) : 0;
}
