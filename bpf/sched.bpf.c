// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * Run, runnable and blocked time of the targets' threads, and busy and idle time of each CPU,
 * summed here: a switch writes no record. The scheduler's own locks order the events of one thread,
 * and a CPU's events are its own, so neither map needs locks or atomics. Everything is
 * preallocated: allocating under a runqueue lock could wake a task and deadlock.
 */
#include "sched_sums.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define TASK_INTERRUPTIBLE   0x01
#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED_TRACED  0x0c
#define TASK_DEAD	     0x80
#define PF_IO_WORKER	     0x00000010
#define PF_KTHREAD	     0x00200000
#define NR_SCHED_YIELD	     24
#define PWR_EVENT_EXIT	     ((__u32) - 1)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_SCHED_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct pt_sched_open);
} sched_threads SEC(".maps");

/* The loader sets the size to the number of possible CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pt_sched_cpu);
} sched_cpus SEC(".maps");

/* Set before load. The state argument of sched_switch came with 5.18: before, the field still holds
 * it when the tracepoint fires. */
const volatile bool sched_has_prev_state = false;

static __always_inline __u32 task_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return (__u32)BPF_CORE_READ(old, state);
}

static __always_inline __u32 task_cpu(struct task_struct *task)
{
	struct task_struct___before_5_16 *old = (void *)task;

	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	return BPF_CORE_READ(old, cpu);
}

static __always_inline __u32 system_call(struct task_struct *task)
{
	struct pt_regs *regs;
	long nr;

	if (task->flags & PF_KTHREAD)
		return PT_CALL_KTHREAD;
	if (task->flags & PF_IO_WORKER)
		return PT_CALL_WORKER;
	if (task->thread_info.flags & TIF_ADDR32)
		return PT_CALL_FOREIGN;
	/* Exceptions store -1; a fault inside a system call leaves the call's own frame here. */
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (bpf_probe_read_kernel(&nr, sizeof(nr), &regs->orig_ax) || nr < 0 ||
	    nr >= PT_CALL_KTHREAD)
		return PT_CALL_NONE;
	return nr;
}

/* What a thread that is not on a CPU is doing, by the state it left with. */
static __always_inline void state_off_cpu(struct task_struct *task, __u32 state, bool preempt,
					  struct pt_sched_open *o)
{
	__u32 wait = PT_WAIT_SLEEP, call;

	o->state = state && !preempt ? PT_SCHED_BLOCKED : PT_SCHED_RUNNABLE;
	o->reason = 0;
	if (sched_all)
		return;
	call = system_call(task);
	if (o->state == PT_SCHED_RUNNABLE) {
		o->reason = PT_WAIT_PREEMPTED << 16;
		if (call == NR_SCHED_YIELD && !preempt)
			o->reason |= call;
		return;
	}
	if (state & TASK_STOPPED_TRACED)
		wait = PT_WAIT_STOPPED;
	else if (state & TASK_UNINTERRUPTIBLE)
		wait = PT_WAIT_DISK;
	o->reason = wait << 16 | call;
}

static __always_inline void cpu_set(struct task_struct *task, __u32 cpu, bool busy)
{
	struct pt_sched_key key = {.tid = cpu, .tgid = PT_SCHED_CPU, .gen = sched_ctl.gen};
	struct pt_sched_cpu *c = bpf_map_lookup_elem(&sched_cpus, &cpu);
	__u64 was, now;

	if (!c)
		return;
	was = c->since_busy;
	if (was && (was & 1) == busy)
		return;
	now = bpf_ktime_get_ns();
	if (was) {
		key.state = was & 1 ? PT_SCHED_RUN : PT_SCHED_BLOCKED;
		cpu_account(task, &key, was >> 1, now);
	}
	c->since_busy = now << 1 | busy;
}

static __always_inline void thread_account(struct task_struct *task, struct pt_sched_open *o,
					   __u64 now)
{
	struct pt_sched_key key = {
		.tid = task->pid,
		.tgid = o->tgid,
		.reason = o->reason,
		.state = o->state,
		.gen = sched_ctl.gen,
	};
	__u64 cpu_ns = o->state == PT_SCHED_RUN ? task->se.sum_exec_runtime - o->exec_ns : 0;

	account(task, &key, o->since_ns, now, cpu_ns);
}

/*
 * Clocks of two CPUs may differ by some nanoseconds. What the kernel tells later of a thread is not
 * earlier, or that little would count in both states.
 */
static __always_inline __u64 not_before(const struct pt_sched_open *o, __u64 now)
{
	return now < o->since_ns ? o->since_ns : now;
}

static __always_inline void thread_add(__u32 tid, struct pt_sched_open *o, __u64 flags)
{
	if (bpf_map_update_elem(&sched_threads, &tid, o, flags) && flags == BPF_ANY)
		__sync_fetch_and_add(&sched_ctl.lost_threads, 1);
}

/*
 * Virtual machines were seen to pass over the tracepoint when some tasks leave the CPU, and the
 * switch into the thread that follows is then unseen. The kernel's own count of run time says when
 * that was.
 */
static __always_inline void missed_in(struct task_struct *task, struct pt_sched_open *o, __u64 now)
{
	__u64 ran = task->se.sum_exec_runtime - o->exec_ns, gone = now - o->since_ns;
	__u64 begin = now - (ran < gone ? ran : gone);

	thread_account(task, o, begin);
	o->since_ns = begin;
	o->state = PT_SCHED_RUN;
	o->reason = 0;
	__sync_fetch_and_add(&sched_ctl.missed, 1);
}

static __always_inline void missed_out(struct task_struct *task, struct pt_sched_open *o, __u64 now)
{
	__u64 ran = task->se.sum_exec_runtime - o->exec_ns, gone = now - o->since_ns;
	__u64 end = o->since_ns + (ran < gone ? ran : gone);

	thread_account(task, o, end);
	o->since_ns = end;
	o->exec_ns = task->se.sum_exec_runtime;
	o->state = PT_SCHED_RUNNABLE;
	o->reason = PT_WAIT_PREEMPTED << 16;
	__sync_fetch_and_add(&sched_ctl.missed, 1);
}

/* False: it is none of a target's. */
static __always_inline bool thread_out(struct task_struct *prev, __u32 state, bool preempt,
				       __u64 now)
{
	struct pt_sched_open next = {
		.since_ns = now,
		.exec_ns = prev->se.sum_exec_runtime,
		.tgid = prev->tgid,
	};
	struct pt_sched_open *o;
	__u32 tid = prev->pid;

	if (!wanted(prev))
		return false;
	o = bpf_map_lookup_elem(&sched_threads, &tid);
	if (o)
		next.since_ns = now = not_before(o, now);
	if (o && o->state != PT_SCHED_RUN)
		missed_in(prev, o, now);
	if (o)
		thread_account(prev, o, now);
	if (state & TASK_DEAD) {
		bpf_map_delete_elem(&sched_threads, &tid);
		return true;
	}
	state_off_cpu(prev, state, preempt, &next);
	if (o)
		*o = next;
	else
		thread_add(tid, &next, BPF_ANY);
	return true;
}

static __always_inline bool thread_in(struct task_struct *next, __u64 now)
{
	struct pt_sched_open run = {
		.since_ns = now,
		.exec_ns = next->se.sum_exec_runtime,
		.tgid = next->tgid,
		.state = PT_SCHED_RUN,
	};
	struct pt_sched_open *o;
	__u32 tid = next->pid;

	if (!wanted(next))
		return false;
	o = bpf_map_lookup_elem(&sched_threads, &tid);
	if (!o) {
		thread_add(tid, &run, BPF_ANY);
		return true;
	}
	run.since_ns = now = not_before(o, now);
	if (o->state == PT_SCHED_RUN)
		missed_out(next, o, now);
	thread_account(next, o, now);
	/* When a thread leaves, the kernel may not have counted its last microseconds yet: from one
	 * leave to the next, none are lost. */
	run.exec_ns = o->exec_ns;
	*o = run;
	return true;
}

SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	bool ours;
	__u32 state;

	if (sched_has_prev_state)
		state = (__u32)ctx[3];
	else
		state = task_state(prev);
	cpu_set(next, bpf_get_smp_processor_id(), next->pid != 0);
	ours = thread_out(prev, state, ctx[0] & 1, now);
	ours |= thread_in(next, now);
	if (ours)
		own_time(now);
	return 0;
}

/* A CPU that goes to sleep is idle, whether or not the switch to the idle task was seen. */
SEC("tp_btf/cpu_idle")
int BPF_PROG(sched_idle, unsigned int idle_state, unsigned int cpu)
{
	if (idle_state != PWR_EVENT_EXIT)
		cpu_set(bpf_get_current_task_btf(), cpu, false);
	return 0;
}

static __always_inline void thread_woken(struct task_struct *task)
{
	struct pt_sched_open next = {
		.exec_ns = task->se.sum_exec_runtime,
		.tgid = task->tgid,
		.state = PT_SCHED_RUNNABLE,
	};
	struct pt_sched_open *o;
	__u32 tid = task->pid;
	__u64 now;

	if (!wanted(task))
		return;
	next.since_ns = now = bpf_ktime_get_ns();
	o = bpf_map_lookup_elem(&sched_threads, &tid);
	if (!o) {
		thread_add(tid, &next, BPF_ANY);
		return;
	}
	next.since_ns = not_before(o, now);
	/* A wakeup of a thread that is on its CPU wakes nothing. */
	if (o->state == PT_SCHED_RUN && !task->on_cpu) {
		missed_out(task, o, next.since_ns);
		state_off_cpu(task, TASK_INTERRUPTIBLE, false, o);
	}
	if (o->state == PT_SCHED_BLOCKED) {
		thread_account(task, o, next.since_ns);
		next.exec_ns = o->exec_ns;
		*o = next;
	}
	own_time(now);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	thread_woken(task);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	thread_woken(task);
	return 0;
}

/* A thread that is not the leader takes over the leader's id when it calls exec. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_exec, struct task_struct *task, int old_pid)
{
	__u32 old = old_pid, tid = task->pid;
	struct pt_sched_open *o, copy;

	if (old == tid)
		return 0;
	o = bpf_map_lookup_elem(&sched_threads, &old);
	if (!o)
		return 0;
	copy = *o;
	bpf_map_delete_elem(&sched_threads, &old);
	thread_add(tid, &copy, BPF_ANY);
	return 0;
}

/*
 * Threads that were there before: run once, after the tracepoints are attached. An event that comes
 * in between makes the entry first, and then it stands.
 */
SEC("iter/task")
int sched_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct pt_sched_open o = {};
	struct pt_sched_cpu *c;
	__u32 cpu, state;

	if (!task || !task->pid)
		return 0;
	o.since_ns = bpf_ktime_get_ns();
	o.tgid = task->tgid;
	o.exec_ns = task->se.sum_exec_runtime;
	if (task->on_cpu) {
		cpu = task_cpu(task);
		c = bpf_map_lookup_elem(&sched_cpus, &cpu);
		if (c)
			__sync_val_compare_and_swap(&c->since_busy, 0, o.since_ns << 1 | 1);
		o.state = PT_SCHED_RUN;
	} else {
		state = task_state(task);
		if (state & TASK_DEAD)
			return 0;
		state_off_cpu(task, state, false, &o);
	}
	if (wanted(task))
		thread_add(task->pid, &o, BPF_NOEXIST);
	return 0;
}
