/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The memory of the target, as the thread that is in a probe sees it. */
#ifndef PROFTRACE_USER_MEMORY_BPF_H
#define PROFTRACE_USER_MEMORY_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

static __always_inline __u64 read_u64(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

/* x86: what the C library calls a thread is where its own segment begins. */
static __always_inline __u64 thread_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread.fsbase);
}

#endif
