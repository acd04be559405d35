/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks a path, following only links that no other user could have made. */
#ifndef PROFTRACE_OUT_PATH_H
#define PROFTRACE_OUT_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

/* Opens (O_PATH) the directory of the last component and returns that component in *name, which
 * the caller frees. A descriptor, or a negative errno: -ELOOP for a link of another user. */
int out_path__parent(const char *path, char **name);
/* Opens (O_PATH) the directory itself in the same way. */
int out_path__directory(const char *path);
/* It belongs to root, to the caller, or to who called sudo. */
bool out_path__is_trusted(const struct stat *st);
/* A directory of one of them that nobody else may write to. A sticky one is none: others may move
 * files of root's to a free name there. */
bool out_path__is_private(int dir);
/* Who new files belong to: who was chosen, else SUDO_UID and SUDO_GID if root runs under sudo; else
 * -1, as created. */
void out_path__owner(uid_t *uid, gid_t *gid);
/* Chooses it; only root can give files away. Links of the chosen user are not trusted for it. */
void out_path__choose_owner(uid_t uid, gid_t gid);

#endif
