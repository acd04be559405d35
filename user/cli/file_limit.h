/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that exceeds its limit (ulimit -f) should give the error -EFBIG, not a signal that ends
 * proftrace. */
#ifndef PROFTRACE_FILE_LIMIT_H
#define PROFTRACE_FILE_LIMIT_H

/* At the begin of the program. */
void file_limit__ignore(void);
/* Call it in a child before exec, to restore the previous handling. */
void file_limit__restore(void);

#endif
