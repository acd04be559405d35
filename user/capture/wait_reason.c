// SPDX-License-Identifier: BSD-2-Clause
#include "capture/wait_reason.h"
#include "bpf/sched_events.h"
#include "common/util.h"
#include <stdio.h>
#include <sys/syscall.h>

/* System calls that can wait; others go by their number. */
#define CALL(name) [SYS_##name] = #name
static const char *const calls[] = {
	CALL(read),
	CALL(write),
	CALL(openat),
	CALL(close),
	CALL(readv),
	CALL(writev),
	CALL(pread64),
	CALL(pwrite64),
	CALL(preadv),
	CALL(pwritev),
	CALL(preadv2),
	CALL(pwritev2),
	CALL(fsync),
	CALL(fdatasync),
	CALL(sync),
	CALL(syncfs),
	CALL(fallocate),
	CALL(ftruncate),
	CALL(sendfile),
	CALL(splice),
	CALL(copy_file_range),
	CALL(newfstatat),
	CALL(statx),
	CALL(getdents64),
	CALL(mmap),
	CALL(munmap),
	CALL(mprotect),
	CALL(mremap),
	CALL(madvise),
	CALL(brk),
	CALL(msync),
	CALL(mlock),
	CALL(ioctl),
	CALL(fcntl),
	CALL(flock),
	CALL(futex),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(sched_yield),
	CALL(ppoll),
	CALL(pselect6),
	CALL(epoll_pwait),
	CALL(io_uring_enter),
	CALL(io_getevents),
	CALL(io_submit),
	CALL(recvfrom),
	CALL(recvmsg),
	CALL(recvmmsg),
	CALL(sendto),
	CALL(sendmsg),
	CALL(sendmmsg),
	CALL(accept),
	CALL(accept4),
	CALL(connect),
	CALL(shutdown),
	CALL(wait4),
	CALL(waitid),
	CALL(clone),
	CALL(clone3),
	CALL(execve),
	CALL(exit),
	CALL(exit_group),
	CALL(kill),
	CALL(tgkill),
	CALL(rt_sigtimedwait),
	CALL(rt_sigsuspend),
	CALL(semop),
	CALL(semtimedop),
	CALL(msgrcv),
	CALL(msgsnd),
	CALL(mq_timedreceive),
	CALL(membarrier),
	CALL(sched_setaffinity),
	CALL(renameat2),
	CALL(unlinkat),
	CALL(mkdirat),
	CALL(userfaultfd),
	CALL(process_vm_readv),
	CALL(bpf),
	CALL(perf_event_open),
#ifdef SYS_poll /* the older calls, which newer architectures do not have */
	CALL(open),
	CALL(stat),
	CALL(poll),
	CALL(select),
	CALL(epoll_wait),
	CALL(pause),
	CALL(fork),
	CALL(vfork),
	CALL(rename),
	CALL(unlink),
	CALL(mkdir),
#endif
#ifdef SYS_futex_waitv
	CALL(futex_waitv),
#endif
#ifdef SYS_epoll_pwait2
	CALL(epoll_pwait2),
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
		return call == SYS_sched_yield ? calls[SYS_sched_yield] : "preempted";
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
