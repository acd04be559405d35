/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes in words what a thread waited for, or why it entered the kernel. */
#ifndef PROFTRACE_WAIT_REASON_H
#define PROFTRACE_WAIT_REASON_H

#include <stddef.h>
#include <stdint.h>

#define WAIT_REASON_MAX 48 /* bytes of the longest text, NUL included */

/*
 * The text of a reason (bpf/sched_events.h): "futex", "read (disk)" for an uninterruptible wait in read, "page fault",
 * "preempted", "stopped". NULL: no reason (running, or woken and waiting for a CPU). The text is in buf or static.
 */
const char *wait_reason__text(uint32_t reason, char buf[WAIT_REASON_MAX]);

/* The text of an enum pt_entry: "munmap", "page fault: anonymous memory". Never NULL. The text is in buf or static. */
const char *entry__text(uint32_t state, uint32_t reason, char buf[WAIT_REASON_MAX]);

#endif
