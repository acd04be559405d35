/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks where the files of a capture go, before the capture, because it may take hours. */
#ifndef PROFTRACE_PLACE_H
#define PROFTRACE_PLACE_H

#include <stdbool.h>

/* Can the file `what` (for example "recording") be written to path? The option gave path: a file,
 * or a directory that exists or that directory__make will make. 0, or a negative errno with
 * err__set; -EINVAL: path is neither. */
int place__check(const char *path, const char *what, const char *option);
/* Does path name a directory? It exists as one, or path ends with a slash. */
bool place__is_directory(const char *path);
/* A copy of path, with a slash at its end if it is a directory. A process that cannot look at it
 * knows by the slash. NULL for NULL. 0 or -ENOMEM; *out is owned. */
int place__mark_directory(const char *path, char **out);
/* Do both paths name one file, in whatever form, even if it does not exist yet? NULL: no. */
bool place__is_same(const char *a, const char *b);

#endif
