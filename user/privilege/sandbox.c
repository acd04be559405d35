// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/sandbox.h"
#include <stdio.h>
#include "common/capability.h"
#include "common/util.h"
#include "common/capability_set.h"
#include "privilege/identity.h"
#include "privilege/landlock.h"
#include "privilege/syscall_filter.h"

static const struct {
	enum protection bit;
	const char *name;
} names[] = {
	{PROTECTION_USER, "a user without rights (user 65534 is missing in this user namespace)"},
	{PROTECTION_LANDLOCK, "Landlock (Linux 5.13, CONFIG_SECURITY_LANDLOCK)"},
	{PROTECTION_SECCOMP, "seccomp filters (CONFIG_SECCOMP_FILTER)"},
};

unsigned int sandbox__lacks(void)
{
	return (landlock__version() ? 0u : PROTECTION_LANDLOCK) |
	       (syscall_filter__is_there() ? 0u : PROTECTION_SECCOMP);
}

const char *sandbox__name(unsigned int protections)
{
	static _Thread_local char text[256];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (protections & names[i].bit)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						len ? " and " : "", names[i].name);
	return text;
}

int sandbox__enter(unsigned int *lacks)
{
	int err = capability_set__keep(CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) |
				       CAPABILITY(CAP_SETPCAP));

	*lacks = identity__give_up_root() ? 0 : PROTECTION_USER;
	if (!err)
		err = capability_set__keep(0);
	if (err)
		return err;
	if (landlock__forbid_changes())
		*lacks |= PROTECTION_LANDLOCK;
	if (syscall_filter__enter())
		*lacks |= PROTECTION_SECCOMP;
	return 0;
}
