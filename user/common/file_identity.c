// SPDX-License-Identifier: BSD-2-Clause
#include "common/file_identity.h"
#include <sys/fsuid.h>

/* The calls answer who it was before, whether or not they succeed; -1 is nobody. */
static bool is_now(uid_t uid, gid_t gid)
{
	return (uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid;
}

/* The group first: root alone may choose it. */
bool file_identity__take(struct file_identity *before, uid_t uid, gid_t gid)
{
	before->gid = (gid_t)setfsgid(gid);
	before->uid = (uid_t)setfsuid(uid);
	if (is_now(uid, gid))
		return true;
	file_identity__restore(before);
	return false;
}

void file_identity__restore(const struct file_identity *before)
{
	setfsuid(before->uid);
	setfsgid(before->gid);
}
