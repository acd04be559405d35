// SPDX-License-Identifier: BSD-2-Clause
#include "common/capability_set.h"
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "common/capability.h"
#include "common/util.h"

#define CAPABILITY_CNT 64

static int get(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static int set(uint64_t permitted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const uint32_t low = (uint32_t)permitted, high = (uint32_t)(permitted >> 32);
	const struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{.effective = low, .permitted = low}, {.effective = high, .permitted = high}};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

uint64_t capability_set__permitted(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return get(data) ? 0 : data[0].permitted | (uint64_t)data[1].permitted << 32;
}

/* Needs CAP_SETPCAP. Without that, no_new_privs has the same effect. */
static void empty_bounding_set(void)
{
	for (int cap = 0; cap < CAPABILITY_CNT; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

int capability_set__keep(uint64_t wanted)
{
	const uint64_t kept = capability_set__permitted() & wanted;

	empty_bounding_set();
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return set(kept);
}
