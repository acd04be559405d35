// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/landlock.h"
#include <stdint.h>
#include <sys/syscall.h>
#include "common/util.h"

/* Numbers of linux/landlock.h, because headers of the build machine may be older than the
 * kernel. */
#define CREATE_RULESET 444
#define RESTRICT_SELF  446
#define GET_VERSION    1u
#define FS_EXECUTE     (1ull << 0)
#define FS_WRITE_FILE  (1ull << 1)
#define FS_READ_FILE   (1ull << 2)
#define FS_READ_DIR    (1ull << 3)
#define FS_UP_TO(last) ((2ull << (last)) - 1)
#define NET_BIND       (1ull << 0)
#define NET_CONNECT    (1ull << 1)
#define SCOPE_ALL      3ull /* abstract sockets and signals */

struct ruleset { /* struct landlock_ruleset_attr, of which older kernels know only the first
		    members */
	uint64_t fs, net, scoped;
};

int landlock__version(void)
{
	long version = syscall(CREATE_RULESET, NULL, 0, GET_VERSION);

	return version > 0 ? (int)version : 0;
}

/* The rights that each version added: 1 up to make_sym, 2 refer, 3 truncate, 5 ioctl. */
static uint64_t rights_of_files(int version)
{
	return version >= 5   ? FS_UP_TO(15)
	       : version >= 3 ? FS_UP_TO(14)
	       : version >= 2 ? FS_UP_TO(13)
			      : FS_UP_TO(12);
}

int landlock__forbid_changes(bool may_connect)
{
	const int version = landlock__version();
	const struct ruleset rules = {
		.fs = rights_of_files(version) & ~(FS_READ_FILE | FS_READ_DIR),
		.net = version < 4   ? 0
		       : may_connect ? NET_BIND
				     : NET_BIND | NET_CONNECT,
		.scoped = version >= 6 ? SCOPE_ALL : 0,
	};
	const size_t size = version >= 6   ? sizeof(rules)
			    : version >= 4 ? offsetof(struct ruleset, scoped)
					   : offsetof(struct ruleset, net);
	auto_close int fd = -1;

	if (!version)
		return -ENOSYS;
	fd = (int)syscall(CREATE_RULESET, &rules, size, 0);
	if (fd < 0)
		return -errno;
	return syscall(RESTRICT_SELF, fd, 0) ? -errno : 0;
}
