// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/sandbox.h"
#include <stdio.h>
#include <sys/prctl.h>
#include "common/capability.h"
#include "common/err.h"
#include "privilege/message_table.h"
#include "common/util.h"
#include "common/capability_set.h"
#include "privilege/core_dumps.h"
#include "privilege/identity.h"
#include "privilege/landlock.h"
#include "privilege/session_filter.h"

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

static int give_up_root(uint64_t keep, unsigned int *lacks)
{
	int err = capability_set__keep(CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) |
				       CAPABILITY(CAP_SETPCAP) | keep);

	if (keep) /* changing the user would remove them, too */
		prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	*lacks = identity__give_up_root() ? 0 : PROTECTION_USER;
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	core_dumps__forbid();
	return err ? err : capability_set__keep(keep);
}

static int enter(enum filter_for use, uint64_t keep, unsigned int *lacks)
{
	int err = give_up_root(keep, lacks);

	if (err)
		return err;
	if (landlock__forbid_changes(use == FILTER_CLIENT))
		*lacks |= PROTECTION_LANDLOCK;
	if (syscall_filter__enter(use))
		*lacks |= PROTECTION_SECCOMP;
	return 0;
}

int sandbox__enter(unsigned int *lacks)
{
	return enter(FILTER_OUTPUT, 0, lacks);
}

int sandbox__look_on(uint64_t keep)
{
	unsigned int lacks;
	int err = give_up_root(keep, &lacks);

	if (err)
		return err__set(err, MESSAGE_ROOT_KEPT, strerror(-err));
	if (session_filter__enter(false))
		log__info(MESSAGE_READER_UNPROTECTED, sandbox__name(PROTECTION_SECCOMP));
	return 0;
}

int sandbox__go_on(enum filter_for use, uint64_t keep)
{
	unsigned int lacks = 0;
	int err = enter(use, keep, &lacks);

	if (err)
		return err__set(err, MESSAGE_PRIVILEGES_KEPT, strerror(-err));
	if (lacks)
		log__info(MESSAGE_PROCESS_UNPROTECTED, sandbox__name(lacks));
	return 0;
}
