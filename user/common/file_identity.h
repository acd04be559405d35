/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom the kernel takes the calling thread for where it opens and makes files. Root that takes
 * another user's identity makes what is his from the begin, and only where he may. */
#ifndef PROFTRACE_FILE_IDENTITY_H
#define PROFTRACE_FILE_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

struct file_identity {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* supplementary ones; freed when it is restored */
	int group_cnt;
};

/* With no supplementary groups: ours are root's. False: it may not (CAP_SETUID, CAP_SETGID), and
 * nothing is changed. */
bool file_identity__take(struct file_identity *before, uid_t uid, gid_t gid);
void file_identity__restore(struct file_identity *before);

#endif
