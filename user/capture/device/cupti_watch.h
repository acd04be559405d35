/* SPDX-License-Identifier: BSD-2-Clause */
/* Notices that another tool begins to use the CUPTI that our library uses. */
#ifndef PROFTRACE_CUPTI_WATCH_H
#define PROFTRACE_CUPTI_WATCH_H

#include "attach/attach.h"

struct proftrace_bpf;
struct cupti_watch;

/* Before the programs are loaded. method: as the other probes attach, no ATTACH_AUTO. */
void cupti_watch__prepare(struct proftrace_bpf *skel, enum attach_method method);
/* When the process has a libcupti. NULL if it cannot be watched (its library has other names);
 * device times are taken all the same. */
struct cupti_watch *cupti_watch__start(struct proftrace_bpf *skel, int pid,
				       enum attach_method method);
void cupti_watch__stop(struct cupti_watch *w); /* NULL is fine */

#endif
