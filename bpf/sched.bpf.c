// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * Run, runnable and blocked time of the targets' threads, and busy and idle time of each CPU. The
 * sums are made here, so a switch seldom writes a record. The scheduler's locks order the events of
 * one thread, and only one CPU has its events. So neither map needs locks or atomics.
 */
#include "sched_threads.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define TASK_INTERRUPTIBLE   0x01
#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED_TRACED  0x0c
#define TASK_DEAD	     0x80
#define PF_IO_WORKER	     0x00000010
#define PF_KTHREAD	     0x00200000
#define NR_SCHED_YIELD	     24
#define LOCK_NS		     1000000ull
#define LOCKS_APART_NS	     10000000ull
#define PWR_EVENT_EXIT	     ((__u32) - 1)

/* The loader sets the size to the number of possible CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct pt_sched_cpu);
} sched_cpus SEC(".maps");

/* Set before load. sched_switch has the state as an argument since 5.18. Before, the task's field
 * still has it when the tracepoint fires. */
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

/* The state of a thread that is not on a CPU, from the state in which it left. */
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

static __always_inline void cpu_account(struct task_struct *task, struct pt_sched_cpu *c, __u32 cpu,
					__u64 now)
{
	struct pt_sched_cpu_sum *sum = &c->sums[sched_ctl.gen & 1];
	struct interval whole = {
		.tid = cpu,
		.tgid = PT_SCHED_CPU,
		.state = c->since_busy & 1 ? PT_SCHED_RUN : PT_SCHED_BLOCKED,
		.begin_ns = c->since_busy >> 1,
		.end_ns = now,
	};

	if (in_no_window(whole.begin_ns, now))
		return;
	if (!sum->window_ns)
		sum->window_ns = ctl.window_open_ns;
	if (!in_window_alone(whole.begin_ns) || sum->window_ns != ctl.window_open_ns)
		interval_emit(task, &whole);
	else if (c->since_busy & 1)
		sum->busy_ns += now - whole.begin_ns;
	else
		sum->idle_ns += now - whole.begin_ns;
}

static __always_inline void cpu_set(struct task_struct *task, __u32 cpu, bool busy, __u64 now)
{
	struct pt_sched_cpu *c = bpf_map_lookup_elem(&sched_cpus, &cpu);
	__u64 was;

	if (!c)
		return;
	was = c->since_busy;
	if (was && (was & 1) == busy)
		return;
	if (was)
		cpu_account(task, c, cpu, now);
	c->since_busy = now << 1 | busy;
}

/*
 * Clocks of two CPUs may differ by a few nanoseconds. A later event of a thread must not get an
 * earlier time, or that time would count in both states.
 */
static __always_inline __u64 not_before(const struct pt_sched_open *o, __u64 now)
{
	return now < o->since_ns ? o->since_ns : now;
}

static __always_inline void thread_add(struct task_struct *task, const struct pt_sched_open *open)
{
	bool is_new;
	struct pt_sched_thread *t = thread_take(task->pid, &is_new);

	if (!t)
		return;
	thread_name(task, t);
	t->open = *open;
}

/*
 * Some virtual machines skip the tracepoint when certain tasks leave the CPU, so the switch to the
 * next thread is not seen. The kernel's own run time shows when that happened.
 */
static __always_inline void missed_in(struct task_struct *task, struct pt_sched_thread *t,
				      __u64 now)
{
	struct pt_sched_open *o = &t->open;
	__u64 ran = task->se.sum_exec_runtime - o->exec_ns, gone = now - o->since_ns;
	__u64 begin = now - (ran < gone ? ran : gone);

	thread_account(t, task->pid, task->se.sum_exec_runtime, begin);
	o->since_ns = begin;
	o->state = PT_SCHED_RUN;
	o->reason = 0;
	__sync_fetch_and_add(&sched_ctl.missed, 1);
}

static __always_inline void missed_out(struct task_struct *task, struct pt_sched_thread *t,
				       __u64 now)
{
	struct pt_sched_open *o = &t->open;
	__u64 ran = task->se.sum_exec_runtime - o->exec_ns, gone = now - o->since_ns;
	__u64 end = o->since_ns + (ran < gone ? ran : gone);

	thread_account(t, task->pid, task->se.sum_exec_runtime, end);
	o->since_ns = end;
	o->exec_ns = task->se.sum_exec_runtime;
	o->state = PT_SCHED_RUNNABLE;
	o->reason = PT_WAIT_PREEMPTED << 16;
	__sync_fetch_and_add(&sched_ctl.missed, 1);
}

/* False: the thread belongs to no target. */
static __always_inline bool thread_out(struct task_struct *prev, __u32 state, bool preempt,
				       __u64 now)
{
	struct pt_sched_open next = {
		.since_ns = now,
		.exec_ns = prev->se.sum_exec_runtime,
		.tgid = prev->tgid,
	};
	struct pt_sched_thread *t = thread_find(prev->pid);

	if (!t) {
		if (!task_wanted(prev) || state & TASK_DEAD)
			return false;
		state_off_cpu(prev, state, preempt, &next);
		thread_add(prev, &next);
		return true;
	}
	if (!t->open.state)
		return true;
	next.since_ns = now = not_before(&t->open, now);
	if (t->open.state != PT_SCHED_RUN)
		missed_in(prev, t, now);
	thread_account(t, prev->pid, prev->se.sum_exec_runtime, now);
	if (state & TASK_DEAD) {
		thread_release(t, prev->pid);
		return true;
	}
	state_off_cpu(prev, state, preempt, &next);
	t->open = next;
	return true;
}

/* A thread that is woken for work may wait for the lock of its queue. That sleep does not count. */
static __always_inline void note_sleep(struct pt_sched_thread *t, __u64 now)
{
	__u64 since = t->open.since_ns, length = now - since;

	if (since < t->woken_ns + LOCKS_APART_NS &&
	    (length < LOCK_NS || length < (t->woken_ns - t->slept_ns) / 8))
		return;
	t->slept_ns = since;
	t->woken_ns = now;
}

static __always_inline bool thread_in(struct task_struct *next, __u64 now)
{
	struct pt_sched_open run = {
		.since_ns = now,
		.exec_ns = next->se.sum_exec_runtime,
		.tgid = next->tgid,
		.state = PT_SCHED_RUN,
	};
	struct pt_sched_thread *t = thread_find(next->pid);

	if (!t) {
		if (!task_wanted(next))
			return false;
		thread_add(next, &run);
		return true;
	}
	if (!t->open.state)
		return true;
	run.since_ns = now = not_before(&t->open, now);
	if (t->open.state == PT_SCHED_RUN)
		missed_out(next, t, now);
	else if (t->open.state == PT_SCHED_BLOCKED) /* the thread's wakeup was not seen */
		note_sleep(t, now);
	thread_account(t, next->pid, next->se.sum_exec_runtime, now);
	/* When a thread leaves, the kernel may not have counted its last microseconds yet: from one
	 * leave to the next, none are lost. */
	run.exec_ns = t->open.exec_ns;
	t->open = run;
	return true;
}

static __always_inline void note_step_run(const struct task_struct *prev,
					  const struct task_struct *next, __u64 now)
{
	const __u32 tid = ctl.step_tid;

	if (!tid || !ctl.run_is_seen)
		return;
	if (prev->pid == tid && ctl.run_in_ns) {
		if (now > ctl.run_in_ns)
			ctl.run.ran_ns += now - ctl.run_in_ns;
		ctl.run_in_ns = 0;
	}
	if (next->pid == tid)
		ctl.run_in_ns = now;
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
	cpu_set(next, bpf_get_smp_processor_id(), next->pid != 0, now);
	note_step_run(prev, next, now);
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
		cpu_set(bpf_get_current_task_btf(), cpu, false, bpf_ktime_get_ns());
	return 0;
}

static __always_inline void thread_woken(struct task_struct *task)
{
	struct pt_sched_open next = {
		.exec_ns = task->se.sum_exec_runtime,
		.tgid = task->tgid,
		.state = PT_SCHED_RUNNABLE,
	};
	struct pt_sched_thread *t = thread_find(task->pid);
	__u64 now;

	if (!t && !task_wanted(task))
		return;
	next.since_ns = now = bpf_ktime_get_ns();
	if (!t) {
		thread_add(task, &next);
		return;
	}
	next.since_ns = not_before(&t->open, now);
	/* A wakeup of a thread that is on its CPU has no effect. */
	if (t->open.state == PT_SCHED_RUN && !task->on_cpu) {
		missed_out(task, t, next.since_ns);
		state_off_cpu(task, TASK_INTERRUPTIBLE, false, &t->open);
	}
	if (t->open.state == PT_SCHED_BLOCKED) {
		note_sleep(t, next.since_ns);
		thread_account(t, task->pid, task->se.sum_exec_runtime, next.since_ns);
		next.exec_ns = t->open.exec_ns;
		t->open = next;
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
	__u32 old_tid = old_pid;
	struct pt_sched_thread *old, *t;
	bool is_new;

	if (old_tid == task->pid)
		return 0;
	old = thread_find(old_tid);
	t = old ? thread_take(task->pid, &is_new) : NULL;
	if (t) {
		thread_name(task, t);
		t->open = old->open;
	}
	if (old) {
		thread_name(task, old);
		thread_release(old, old_tid);
	}
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(sched_rename, struct task_struct *task, const char *comm)
{
	struct pt_sched_thread *t = thread_find(task->pid);

	if (t)
		bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), comm);
	return 0;
}

/*
 * Threads that existed before: runs once, after the tracepoints are attached. If an event of a
 * thread came in between, its entry stays.
 */
SEC("iter/task")
int sched_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct pt_sched_open o = {};
	struct pt_sched_thread *t;
	struct pt_sched_cpu *c;
	__u32 cpu, state;
	bool is_new = false;

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
	t = task_wanted(task) ? thread_take(task->pid, &is_new) : NULL;
	if (!t || !is_new)
		return 0;
	/* Until the entry has a state, the thread's own events do not change it. */
	state = o.state;
	o.state = 0;
	thread_name(task, t);
	t->open = o;
	barrier();
	t->open.state = state;
	return 0;
}
