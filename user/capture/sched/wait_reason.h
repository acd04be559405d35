/* SPDX-License-Identifier: BSD-2-Clause */
/* What a thread waited for, or entered the kernel for, in words. */
#ifndef PROFTRACE_WAIT_REASON_H
#define PROFTRACE_WAIT_REASON_H

#include <stddef.h>
#include <stdint.h>

#define WAIT_REASON_MAX 48 /* bytes of the longest text, NUL included */

/*
 * The reason of bpf/sched_events.h as text: "futex", "read (disk)" for an uninterruptible wait in
 * read, "page fault", "preempted", "stopped". NULL if there is nothing to say (running, or woken
 * and waiting for a CPU). The text is in buf or static.
 */
const char *wait_reason__text(uint32_t reason, char buf[WAIT_REASON_MAX]);

/* What an enum pt_entry was: "munmap", "page fault: anonymous memory". Never NULL; likewise. */
const char *entry__text(uint32_t state, uint32_t reason, char buf[WAIT_REASON_MAX]);

#endif
