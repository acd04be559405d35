/* SPDX-License-Identifier: BSD-2-Clause */
/* Notices when another tool begins to use the CUPTI that our library uses. */
#ifndef PROFTRACE_CUPTI_WATCH_H
#define PROFTRACE_CUPTI_WATCH_H

#include "attach/attach.h"

struct proftrace_bpf;
struct cupti_watch;

/* Call before the programs are loaded. method: that of the other probes, not ATTACH_AUTO. */
void cupti_watch__prepare(struct proftrace_bpf *skel, enum attach_method method);
/* Call when the process has a libcupti. Returns NULL if it cannot be watched (its library has another name); device
 * times are recorded all the same. */
struct cupti_watch *cupti_watch__start(struct proftrace_bpf *skel, int pid,
				       enum attach_method method);
void cupti_watch__stop(struct cupti_watch *w); /* w may be NULL */

#endif
