/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_IN_ROOT_H
#define PROFTRACE_IN_ROOT_H

/*
 * Finds a path as a process with that root directory would. Links and ".." cannot lead out of it,
 * whatever is moved meanwhile. It does what openat2(RESOLVE_IN_ROOT) does, for a process whose
 * filter cannot check that call's flags. An O_PATH descriptor, or a negative errno.
 */
int in_root__find(int root, const char *path);

#endif
