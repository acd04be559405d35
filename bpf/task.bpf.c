// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * The life of the targets: new threads, forks, execs, exits and renames, one record each. A child
 * becomes a target before its first instruction, so nothing of a worker is missed.
 */
#include "maps.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define SIGNAL_GROUP_EXIT 0x4

static __always_inline bool is_target(struct task_struct *task)
{
	__u32 tgid = task->tgid;

	return bpf_map_lookup_elem(&targets, &tgid);
}

static __always_inline struct pt_rec_task *rec_reserve(struct task_struct *task, __u32 event)
{
	struct pt_rec_task *r = ring_reserve(&ring, sizeof(*r));

	if (!r) {
		__sync_fetch_and_add(&ctl.lost_ring, 1);
		return NULL;
	}
	r->h.kind = PT_REC_TASK;
	r->h.end = 0;
	r->h.size = sizeof(*r);
	r->h.probe = 0;
	r->h.pid = task->tgid;
	r->h.tid = task->pid;
	r->ts_ns = bpf_ktime_get_ns();
	r->event = event;
	r->parent_pid = 0;
	r->exit_code = 0;
	r->last = 0;
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), task->comm);
	return r;
}

static __always_inline void follow(struct task_struct *child)
{
	__u32 tgid = child->tgid;
	__u32 value = __sync_fetch_and_add(&ctl.target_cnt, 1) + 1;

	if (bpf_map_update_elem(&targets, &tgid, &value, BPF_NOEXIST))
		__sync_fetch_and_add(&ctl.lost_targets, 1);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_fork, struct task_struct *parent, struct task_struct *child)
{
	bool thread = child->tgid == parent->tgid;
	struct pt_rec_task *r;

	if (!is_target(parent))
		return 0;
	if (!thread && ctl.follow_forks)
		follow(child);
	r = rec_reserve(child, thread ? PT_TASK_THREAD : PT_TASK_FORK);
	if (!r)
		return 0;
	r->parent_pid = parent->tgid;
	/* The loader must be woken for a child, which needs its probes at once. A thread needs
	 * none. */
	bpf_ringbuf_submit(r, thread ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_exec, struct task_struct *task)
{
	struct pt_rec_task *r;

	if (!is_target(task))
		return 0;
	r = rec_reserve(task, PT_TASK_EXEC);
	if (!r)
		return 0;
	r->parent_pid = BPF_CORE_READ(task, real_parent, tgid);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *task)
{
	struct pt_rec_task *r;
	bool last;

	if (!is_target(task))
		return 0;
	last = BPF_CORE_READ(task, signal, live.counter) == 0;
	r = rec_reserve(task, PT_TASK_EXIT);
	if (!r)
		return 0;
	r->parent_pid = BPF_CORE_READ(task, real_parent, tgid);
	r->last = last;
	r->exit_code = task->exit_code;
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		r->exit_code = BPF_CORE_READ(task, signal, group_exit_code);
	bpf_ringbuf_submit(r, last ? BPF_RB_FORCE_WAKEUP : 0);
	return 0;
}

/* Only when the leader is finally gone. Then its threads have made their last switch, and no other
 * process can have the id yet. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(task_free, struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&targets, &tgid);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	struct pt_rec_task *r;

	if (!is_target(task))
		return 0;
	r = rec_reserve(task, PT_TASK_RENAME);
	if (!r)
		return 0;
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), comm);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}
