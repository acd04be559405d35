/* SPDX-License-Identifier: BSD-2-Clause */
/* Core dumps: the kernel writes one for a process, or pipes it to a program, even if that process
 * may write nothing. */
#ifndef PROFTRACE_CORE_DUMPS_H
#define PROFTRACE_CORE_DUMPS_H

/* Forbids core dumps of this process and its children. Changing the user undoes a part, so call it
 * afterwards. */
void core_dumps__forbid(void);

#endif
