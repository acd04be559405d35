/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that becomes larger than it may (ulimit -f) is an error to report, -EFBIG, and not a signal
 * to die of. */
#ifndef PROFTRACE_FILE_LIMIT_H
#define PROFTRACE_FILE_LIMIT_H

/* At the begin of the program. */
void file_limit__ignore(void);
/* In a child, before it becomes another program: as it was before. */
void file_limit__restore(void);

#endif
