/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_DIRECTORY_H
#define PROFTRACE_DIRECTORY_H

/* Makes the directory that path names by a slash at its end, if it is missing and the one above it
 * is not. 0, also for what names none, or a negative errno with err__set. */
int directory__make(const char *path);

#endif
