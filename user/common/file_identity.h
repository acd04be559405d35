/* SPDX-License-Identifier: BSD-2-Clause */
/* The user as whom the calling thread opens and makes files. Root can take another user's identity.
 * Then new files belong to that user from the begin, and only what that user may do is possible. */
#ifndef PROFTRACE_FILE_IDENTITY_H
#define PROFTRACE_FILE_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

struct file_identity {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* supplementary groups; freed when the identity is restored */
	int group_cnt;
};

/* Without supplementary groups, because ours are root's. False: it is not allowed (CAP_SETUID,
 * CAP_SETGID), and nothing changed. */
bool file_identity__take(struct file_identity *before, uid_t uid, gid_t gid);
void file_identity__restore(struct file_identity *before);

#endif
