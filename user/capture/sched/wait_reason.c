// SPDX-License-Identifier: BSD-2-Clause
#include "capture/sched/wait_reason.h"
#include "bpf/sched_events.h"
#include "common/util.h"
#include "recording/event.h"
#include <stdio.h>
#include <sys/syscall.h>

static const char *const calls[] = {
#include "syscall_names.h" /* [__NR_read] = "read", ... */
#if defined(__x86_64__) && !defined(__NR_uretprobe)
	/* return probes, also ours, enter the kernel by this call since Linux 6.11 */
	[335] = "uretprobe",
#endif
#if defined(__x86_64__) && !defined(__NR_uprobe)
	[336] = "uprobe", /* other probes enter the kernel by this call since Linux 6.18 */
#endif
};

static const char *call_text(uint32_t call, char *buf, size_t size)
{
	switch (call) {
	case PT_CALL_NONE:
		return "page fault";
	case PT_CALL_FOREIGN:
		return "32-bit system call";
	case PT_CALL_WORKER:
		return "io_uring worker";
	case PT_CALL_KTHREAD:
		return "kernel thread";
	}
	if (call < ARRAY_SIZE(calls) && calls[call])
		return calls[call];
	snprintf(buf, size, "syscall %u", call);
	return buf;
}

const char *wait_reason__text(uint32_t reason, char buf[WAIT_REASON_MAX])
{
	uint32_t call = reason & 0xffff;
	char number[24];

	switch (reason >> 16) {
	case PT_WAIT_PREEMPTED:
		return call == SYS_sched_yield ? calls[call] : "preempted";
	case PT_WAIT_STOPPED:
		return "stopped";
	case PT_WAIT_SLEEP:
		return call_text(call, buf, WAIT_REASON_MAX);
	case PT_WAIT_DISK:
		if (call == PT_CALL_NONE)
			return "page fault";
		snprintf(buf, WAIT_REASON_MAX, "%s (disk)",
			 call_text(call, number, sizeof(number)));
		return buf;
	}
	return NULL;
}

const char *entry__text(uint32_t state, uint32_t reason, char buf[WAIT_REASON_MAX])
{
	if (state == PT_ENTRY_SYSCALL)
		return call_text(reason, buf, WAIT_REASON_MAX);
	switch (reason) {
	case PT_FAULT_ANONYMOUS:
		return FAULT_ANONYMOUS;
	case PT_FAULT_FILE:
		return FAULT_FILE;
	case PT_FAULT_DISK:
		return FAULT_DISK;
	}
	return "page fault";
}
