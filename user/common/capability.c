// SPDX-License-Identifier: BSD-2-Clause
#include "common/capability.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "common/err.h"
#include "common/message_table.h"
#include "common/util.h"

#define FIRST_USER_NS 0xEFFFFFFDu /* PROC_USER_INIT_INO, include/linux/proc_ns.h */

static const struct {
	int bit;
	const char *name;
} names[] = {
	{CAP_BPF, "CAP_BPF"},
	{CAP_PERFMON, "CAP_PERFMON"},
	{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
	{CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
	{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
};

/* Asks by the system call, because /proc may be missing. */
static uint64_t effective(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

static bool in_user_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) == 0 && st.st_ino != FIRST_USER_NS;
}

const char *capability__missing(uint64_t wanted)
{
	static _Thread_local char text[128];
	uint64_t have = effective();
	size_t at = 0;

	if (have & CAPABILITY(CAP_SYS_ADMIN))
		have |= CAPABILITIES_TO_LOAD;
	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (wanted & ~have & CAPABILITY(names[i].bit))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s",
					       at ? " and " : "", names[i].name);
	return text;
}

const char *capability__lack(uint64_t wanted)
{
	const char *missing = capability__missing(wanted);

	if (*missing && geteuid())
		err__set(-EPERM, MESSAGE_CAPABILITY_MISSING, missing);
	else if (*missing)
		err__set(-EPERM, MESSAGE_CAPABILITY_MISSING_TO_ROOT, missing);
	else if (in_user_namespace())
		err__set(-EPERM, MESSAGE_CAPABILITIES_OF_NAMESPACE);
	else
		return "";
	return err__take(-EPERM);
}

const char *capability__why_refused(uint64_t wanted)
{
	const char *lack = capability__lack(wanted);

	if (*lack)
		return lack;
	err__set(-EPERM, MESSAGE_REFUSED_DESPITE_CAPABILITIES);
	return err__take(-EPERM);
}
