// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/identity.h"
#include <grp.h>
#include "common/out_path.h"
#include "common/util.h"

#define NOBODY 65534u

bool identity__give_up_root(void)
{
	uid_t uid;
	gid_t gid;

	if (geteuid())
		return true;
	out_path__owner(&uid, &gid);
	if (uid == (uid_t)-1 || !uid) {
		uid = NOBODY;
		gid = NOBODY;
	}
	/* A user namespace with one user has no groups to give up. */
	if (setgroups(0, NULL) && errno != EPERM)
		return false;
	return !setresgid(gid, gid, gid) && !setresuid(uid, uid, uid);
}
