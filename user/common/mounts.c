// SPDX-License-Identifier: BSD-2-Clause
#include "common/mounts.h"
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include "common/err.h"
#include "common/message_table.h"
#include "common/util.h"

static bool is_mounted(const char *path, long magic)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == magic;
}

/* "self" is our number in the pid namespace of the mount. It leads to nothing if we have no number
 * there (proc_self_get_link in fs/proc/self.c). */
int mounts__check_proc(const char *proc)
{
	char path[256], number[32];
	ssize_t len;

	if (!is_mounted(proc, PROC_SUPER_MAGIC))
		return err__set(-ENOENT, MESSAGE_PROC_NOT_MOUNTED, proc, proc);
	snprintf(path, sizeof(path), "%s/self", proc);
	len = readlink(path, number, sizeof(number) - 1);
	number[len > 0 ? len : 0] = '\0';
	if (atoi(number) == getpid())
		return 0;
	return err__set(-EXDEV, MESSAGE_PROC_OF_OTHER_NAMESPACE, proc, getpid(),
			*number ? number : "none", proc);
}

const char *mounts__why_no_btf(const char *sys)
{
	char path[256];

	if (!is_mounted(sys, SYSFS_MAGIC))
		return "/sys is not mounted: mount -t sysfs sysfs /sys";
	snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", sys);
	if (access(path, F_OK) < 0)
		return "the kernel was built without CONFIG_DEBUG_INFO_BTF; boot one that has it";
	return "the file is there, the cause is unknown";
}
