// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * How long the targets' threads are in the kernel for system calls and page faults. Times are
 * summed per step, like the scheduler's intervals. It is loaded only if requested, because a
 * tracepoint costs every process of the machine at each system call and fault.
 */
#include "intervals.bpf.h"
#include <bpf/bpf_tracing.h>

#define NR_EXIT	      60
#define NR_EXIT_GROUP 231
#define NR_MAX	      0xfff0
/* enum vm_fault_reason, unchanged since 5.1 */
#define VM_FAULT_MAJOR 0x004
#define VM_FAULT_RETRY 0x400

/* A fault may happen inside a system call, so each has its own map. An unused map has one entry. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_SCHED_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct pt_sched_open);
} open_calls SEC(".maps"), open_faults SEC(".maps");

/* Has one entry if it is unused. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_ENTRY_MAX_SUMS);
	__type(key, struct pt_entry_key);
	__type(value, struct pt_entry_sum);
} entry_sums SEC(".maps");

static __noinline int sum_add(struct task_struct *task, struct pt_entry_key *key, __u64 ns,
			      __u32 cnt)
{
	struct pt_entry_sum *s = bpf_map_lookup_elem(&entry_sums, key);

	if (s) {
		s->ns += ns;
		s->cnt += cnt;
	} else {
		struct pt_entry_sum first = {.ns = ns, .cnt = cnt};

		bpf_probe_read_kernel_str(first.comm, sizeof(first.comm), task->comm);
		if (bpf_map_update_elem(&entry_sums, key, &first, BPF_NOEXIST))
			__sync_fetch_and_add(&sched_ctl.lost_sums, 1);
	}
	return 0;
}

/* Goes backwards from the latest boundary, so the newest step comes first. */
static __always_inline void sum_split(struct task_struct *task, struct pt_entry_key *key,
				      __u64 begin, __u64 end)
{
	__u64 seq = ctl.step_seq;

	for (int i = 0; i < PT_ENTRY_MAX_SPLIT; i++) {
		__u64 step = ctl.step_ns[(seq - i) % PT_STEP_RING];
		__u64 from = step > begin ? step : begin;

		if (from < end) {
			key->step_ns = step;
			sum_add(task, key, end - from, from == begin);
			end = from;
		}
		if (step <= begin)
			break;
	}
}

/* An entry into the kernel is over: adds it to the sums, or sends it whole to the loader. */
static __always_inline void account(struct task_struct *task, const struct pt_sched_open *o,
				    __u64 now)
{
	struct pt_entry_key key = {
		.tid = task->pid,
		.tgid = o->tgid,
		.reason = o->reason,
		.state = o->state,
		.gen = sched_ctl.gen,
	};
	struct interval whole = interval_of(task->pid, o, now);

	if (in_no_window(o->since_ns, now))
		return;
	if (!in_window_alone(o->since_ns) ||
	    ctl.step_ns[(ctl.step_seq - (PT_ENTRY_MAX_SPLIT - 1)) % PT_STEP_RING] > o->since_ns)
		interval_emit(task, &whole);
	else
		sum_split(task, &key, o->since_ns, now);
}

static __always_inline int entry_begin(void *map, __u32 state, __u32 reason)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	struct pt_sched_open o = {
		.since_ns = bpf_ktime_get_ns(),
		.tgid = task->tgid,
		.reason = reason,
		.state = state,
	};

	if (bpf_map_update_elem(map, &tid, &o, BPF_ANY))
		__sync_fetch_and_add(&sched_ctl.lost_threads, 1);
	own_time(o.since_ns);
	return 0;
}

static __always_inline int entry_end(void *map, struct pt_sched_open *o)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	__u64 now = bpf_ktime_get_ns();

	account(task, o, now);
	bpf_map_delete_elem(map, &tid);
	own_time(now);
	return 0;
}

static __always_inline struct pt_sched_open *entry_open(void *map)
{
	__u32 tid = bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(map, &tid);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(syscall_enter, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();

	/* Calls that do not return would stay in the map. */
	if (!task_wanted(task) || nr < 0 || nr >= NR_MAX)
		return 0;
	if (task->thread_info.flags & TIF_ADDR32)
		nr = PT_CALL_FOREIGN;
	else if (nr == NR_EXIT || nr == NR_EXIT_GROUP)
		return 0;
	return entry_begin(&open_calls, PT_ENTRY_SYSCALL, nr);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(syscall_exit, struct pt_regs *regs, long ret)
{
	struct pt_sched_open *o = entry_open(&open_calls);

	return o ? entry_end(&open_calls, o) : 0;
}

SEC("fentry/handle_mm_fault")
int BPF_PROG(fault_enter, struct vm_area_struct *vma)
{
	struct pt_sched_open *o;

	if (!task_wanted(bpf_get_current_task_btf()))
		return 0;
	o = entry_open(&open_faults);
	/* The fault is tried again after waiting for a lock or for the disk, so the interval
	 * continues. */
	if (o && o->again)
		return 0;
	return entry_begin(&open_faults, PT_ENTRY_FAULT,
			   vma->vm_file ? PT_FAULT_FILE : PT_FAULT_ANONYMOUS);
}

SEC("fexit/handle_mm_fault")
int BPF_PROG(fault_exit, struct vm_area_struct *vma, unsigned long address, unsigned int flags,
	     struct pt_regs *regs, unsigned int ret)
{
	struct pt_sched_open *o = entry_open(&open_faults);

	if (!o)
		return 0;
	o->again = !!(ret & VM_FAULT_RETRY);
	if (ret & VM_FAULT_MAJOR)
		o->reason = PT_FAULT_DISK;
	return o->again ? 0 : entry_end(&open_faults, o);
}
