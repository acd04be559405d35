// SPDX-License-Identifier: BSD-2-Clause
#include "cli/owner.h"
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include "common/err.h"
#include "cli/message_table.h"
#include "common/out_path.h"
#include "common/util.h"

static bool number_of(const char *text, unsigned int *out)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*out = (unsigned int)n;
	return !errno && !*end && n < UINT_MAX;
}

/* A user's group is the login group. A number that no user has is its own group. */
static bool find_user(const char *text, uid_t *uid, gid_t *gid)
{
	const bool is_number = number_of(text, uid);
	const struct passwd *user = is_number ? getpwuid(*uid) : getpwnam(text);

	if (!user && !is_number)
		return false;
	*uid = user ? user->pw_uid : *uid;
	*gid = user ? user->pw_gid : *uid;
	return true;
}

static bool find_group(const char *text, gid_t *gid)
{
	const struct group *group;

	if (number_of(text, gid))
		return true;
	group = getgrnam(text);
	*gid = group ? group->gr_gid : 0;
	return group != NULL;
}

int owner__parse(const char *value, void *unused)
{
	auto_free char *copy = strdup(value);
	char *group = copy ? strchr(copy, ':') : NULL;
	uid_t uid;
	gid_t gid;

	if (!copy)
		return -ENOMEM;
	if (geteuid())
		return err__set(-EINVAL, MESSAGE_OWNER_NEEDS_ROOT, value);
	if (group)
		*group++ = '\0';
	if (!find_user(copy, &uid, &gid))
		return err__set(-EINVAL, MESSAGE_OWNER_USER_UNKNOWN, value, copy);
	if (group && !find_group(group, &gid))
		return err__set(-EINVAL, MESSAGE_OWNER_GROUP_UNKNOWN, value, group);
	out_path__choose_owner(uid, gid);
	return 0;
}
