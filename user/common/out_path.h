/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks a path, following only links that no other user could have made or moved. Who owns a link
 * does not tell: a container's root has our root's number, and a link can be moved. So these are
 * followed:
 * - root's in /, /var and /dev: who changes those can change the system itself;
 * - those of /proc that are root's or the caller's;
 * - the caller's own, in a directory that nobody else may write to. Under sudo what lies behind one
 *   is done as the caller, and the kernel refuses what he may not.
 */
#ifndef PROFTRACE_OUT_PATH_H
#define PROFTRACE_OUT_PATH_H

#include <stdbool.h>
#include <sys/stat.h>
#include "common/file_identity.h"

struct out_path {
	int dir;	/* the directory of the last component (O_PATH) */
	char *name;	/* of that component */
	bool as_caller; /* reached through a link of the user who called sudo */
	bool acts;	/* acts as that user now */
	struct file_identity before; /* if so: who we were */
};

#define OUT_PATH_NONE ((struct out_path){.dir = -1})
#define auto_path     __attribute__((cleanup(out_path__close)))

/* Opens the directory of the last component; -ELOOP for a link (refused_link.h). Behind a link of
 * the user who called sudo, this thread acts as that user until out_path__rest() or out_path__close(). 0 or
 * a negative errno; then nothing needs closing. */
int out_path__parent(const char *path, struct out_path *out);
/* Opens the directory itself in the same way; it has no name. */
int out_path__directory(const char *path, struct out_path *out);
/* Acts as the caller again, if that is how it was opened; 0 or a negative errno. */
int out_path__act(struct out_path *p);
void out_path__rest(struct out_path *p);
void out_path__close(struct out_path *p);

/* The last component is a link to an open descriptor: one of /proc, or /dev/stdout and its like. */
bool out_path__is_descriptor(const struct out_path *p);
/* Does it belong to root, to the caller, or to the user who called sudo? */
bool out_path__is_trusted(const struct stat *st);
/* A directory of one of them that nobody else may write to. A sticky directory is not private: in
 * it others can move root's files to a free name. */
bool out_path__is_private(int dir);
/* Who new files belong to: who was chosen, else SUDO_UID and SUDO_GID if root runs under sudo; else
 * -1, as created. */
void out_path__owner(uid_t *uid, gid_t *gid);
/* Chooses it; only root can give files away. Links of the chosen user are not trusted for it, and
 * those of who called sudo no more. */
void out_path__choose_owner(uid_t uid, gid_t gid);

#endif
