/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_DIRECTORY_H
#define PROFTRACE_DIRECTORY_H

/* If path ends with a slash, makes that directory. Its parent must exist. 0, also if path does not
 * end so, or a negative errno with err__set. */
int directory__make(const char *path);

#endif
