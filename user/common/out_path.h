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
	int dir;	/* directory that contains the last component (O_PATH) */
	char *name;	/* the last component */
	bool as_caller; /* reached through a link of the user who called sudo */
	bool acts;	/* this thread acts as that user now */
	struct file_identity before; /* if so: the identity before */
};

#define OUT_PATH_NONE ((struct out_path){.dir = -1})
#define auto_path     __attribute__((cleanup(out_path__close)))

/* Opens the directory of the last component; -ELOOP for a link (refused_link.h). Behind a link of
 * the user who called sudo, this thread acts as that user until out_path__rest() or out_path__close(). 0 or
 * a negative errno; then nothing needs closing. */
int out_path__parent(const char *path, struct out_path *out);
/* The same for the directory itself; name is NULL. */
int out_path__directory(const char *path, struct out_path *out);
/* Acts as the caller again, if the path was opened so. 0 or a negative errno. */
int out_path__act(struct out_path *p);
void out_path__rest(struct out_path *p);
void out_path__close(struct out_path *p);

/* Is the last component a link to an open descriptor, such as one of /proc, or /dev/stdout? */
bool out_path__is_descriptor(const struct out_path *p);
/* Does it belong to root, to the caller, or to the user who called sudo? */
bool out_path__is_trusted(const struct stat *st);
/* Is it a directory of one of these users to which nobody else can write? A sticky directory is not
 * private: others can move root's files to a free name in it. */
bool out_path__is_private(int dir);
/* The owner of new files: the chosen one, else SUDO_UID and SUDO_GID if root runs under sudo, else
 * -1 (as created). */
void out_path__owner(uid_t *uid, gid_t *gid);
/* Chooses the owner. Only root can give files away. Links of the chosen user are not trusted, nor
 * are those of the user who called sudo any more. */
void out_path__choose_owner(uid_t uid, gid_t gid);

#endif
