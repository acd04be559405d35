// SPDX-License-Identifier: BSD-2-Clause
#include "common/file_identity.h"
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include "common/util.h"

/* The calls return the former id, whether or not they succeed. -1 changes nothing. */
static bool is_now(uid_t uid, gid_t gid)
{
	return (uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid;
}

/* Sets the groups of this thread alone; setgroups(3) sets those of all threads. */
static bool set_groups(int cnt, const gid_t *groups)
{
	return !syscall(SYS_setgroups, cnt, groups);
}

static bool leave_groups(struct file_identity *before)
{
	before->groups = NULL;
	before->group_cnt = getgroups(0, NULL);
	if (before->group_cnt <= 0)
		return !before->group_cnt;
	before->groups = calloc((size_t)before->group_cnt, sizeof(*before->groups));
	if (before->groups && getgroups(before->group_cnt, before->groups) == before->group_cnt &&
	    set_groups(0, NULL))
		return true;
	free(before->groups);
	return false;
}

/* The group comes first, because only root may choose it. */
bool file_identity__take(struct file_identity *before, uid_t uid, gid_t gid)
{
	if (!leave_groups(before))
		return false;
	before->gid = (gid_t)setfsgid(gid);
	before->uid = (uid_t)setfsuid(uid);
	if (is_now(uid, gid))
		return true;
	file_identity__restore(before);
	return false;
}

void file_identity__restore(struct file_identity *before)
{
	setfsuid(before->uid);
	setfsgid(before->gid);
	if (before->group_cnt)
		set_groups(before->group_cnt, before->groups);
	free(before->groups);
	before->groups = NULL;
}
