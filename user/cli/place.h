/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the files of a capture go, looked at before it: steps may take hours to come. */
#ifndef PROFTRACE_PLACE_H
#define PROFTRACE_PLACE_H

#include <stdbool.h>

/* Can the file `what` ("recording") be written to path, a file or a directory (there, or to be made
 * by directory__make), which the option gave? 0, or a negative errno with err__set; -EINVAL: what is
 * there is neither. */
int place__check(const char *path, const char *what, const char *option);
/* Does path name a directory, by what is there or by a slash at its end? */
bool place__is_directory(const char *path);
/* The path, with a slash at its end if it is a directory: who may not look at it knows by that.
 * NULL for NULL. 0 or -ENOMEM; *out is owned. */
int place__mark_directory(const char *path, char **out);
/* Do both name one file, however they are written and whether or not it is there yet? NULL: no. */
bool place__is_same(const char *a, const char *b);

#endif
