/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Shared by the scheduler's programs and the loader. Threads and CPUs are state machines. Each has
 * an entry in a map, with its open interval and sums of ended ones. A thread's sums are of its
 * current step. When the step changes, they become a record in the ring. An interval across a
 * window's edge, or more than one step boundary, does not fit into sums. It is sent whole, as a
 * span, and the loader cuts it. All times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef PROFTRACE_SCHED_EVENTS_H
#define PROFTRACE_SCHED_EVENTS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_SCHED_MAX_THREADS 65536 /* half of them fit; 4 of 1000 find all their places taken */
#define PT_SCHED_MIN_THREADS 4096
#define PT_SCHED_WAYS	     16 /* places for a thread's id, one of which it takes */
#define PT_SCHED_GONE	     (1u << 31) /* flag of a thread's id: the thread ended, and the
					   loader takes its sums */
#define PT_SCHED_PARTS	     4
#define PT_SCHED_TIMED	     8		 /* one of so many runs of a program is timed, and stands
					    for all */
#define PT_SCHED_CPU	     0xffffffffu /* tgid of a CPU's rows; tid is the CPU's index */
#define PT_ENTRY_MAX_SUMS    262144
#define PT_ENTRY_MAX_SPLIT   8 /* step boundaries at which the kernel side cuts an entry */

/* The numbers of enum sched_state in the recording. A CPU is RUN (busy) or BLOCKED (idle). */
enum pt_sched_state { PT_SCHED_RUN = 1, PT_SCHED_RUNNABLE = 2, PT_SCHED_BLOCKED = 3 };

/* Entries into the kernel are counted besides the states. The reason of a fault is an enum
 * pt_fault, that of a call its number. */
enum pt_entry { PT_ENTRY_SYSCALL = 4, PT_ENTRY_FAULT = 5 };
enum pt_fault { PT_FAULT_ANONYMOUS = 1, PT_FAULT_FILE = 2, PT_FAULT_DISK = 3 };

/* Why a thread does not run: (enum pt_wait << 16) | number of the system call, or enum
 * pt_wait_call. */
enum pt_wait {
	PT_WAIT_NONE = 0,      /* woken, and waits for a CPU */
	PT_WAIT_PREEMPTED = 1, /* lost its CPU while runnable */
	PT_WAIT_SLEEP = 2,     /* interruptible */
	PT_WAIT_DISK = 3,      /* uninterruptible */
	PT_WAIT_STOPPED = 4,   /* stopped by a signal or a tracer */
};
enum pt_wait_call {
	PT_CALL_NONE = 0xffff,	  /* no system call: a page fault */
	PT_CALL_FOREIGN = 0xfffe, /* of a 32-bit program, which has other numbers */
	PT_CALL_WORKER = 0xfffd,  /* a kernel worker of the process (io_uring) */
	PT_CALL_KTHREAD = 0xfffc, /* a kernel thread, which makes no system calls */
};

struct pt_sched_open {
	__u64 since_ns;
	__u64 exec_ns; /* the kernel's run time of the thread when the interval began */
	__u32 tgid;
	__u32 reason;
	__u32 state; /* enum pt_sched_state or pt_entry */
	__u32 again; /* a fault that will be tried again */
};

/* Time for which a thread did not run, by state << PT_SCHED_STATE_SHIFT | reason. */
#define PT_SCHED_STATE_SHIFT 24
struct pt_sched_part {
	__u64 ns; /* 0: unused */
	__u32 what;
	__u32 cnt; /* number of intervals; one across a boundary counts where it began */
};

/* Sums of a thread in one step. */
struct pt_sched_step {
	__u64 step_ns; /* boundary that opened the step, 0 if there is none */
	__u64 run_ns;
	__u64 cpu_ns; /* the same by the kernel's clock, without time that a hypervisor took */
	__u64 run_cnt;
	struct pt_sched_part parts[PT_SCHED_PARTS];
};

static inline int pt_sched_step_in_use(const struct pt_sched_step *step)
{
	return step->run_ns || step->parts[0].ns;
}

/*
 * The entry of a thread. The scheduler's locks order its events. Programs add to the sums of
 * pt_sched_ctl.gen; the other sums belong to the loader. open.state 0: the iterator over earlier
 * threads is filling it.
 */
struct pt_sched_thread {
	struct pt_sched_open open;
	char comm[16];
	__u64 slept_ns, woken_ns; /* its latest sleep, but for a lock: from slept_ns to woken_ns */
	struct pt_sched_step steps[2];
};

/* Ids of the threads in these places, 0: free. */
struct pt_sched_set {
	__u32 tids[PT_SCHED_WAYS];
};

/* The sums of a step that is over, or that has no more room. */
struct pt_sched_record {
	__u32 tid, tgid;
	char comm[16];
	struct pt_sched_step step;
};

struct pt_sched_cpu_sum {
	__u64 window_ns; /* when the window opened, 0: unused */
	__u64 busy_ns, idle_ns;
};

/* since_busy is one word, so it is always consistent: (since_ns << 1) | busy; 0: idle since the
 * start. One cache line per CPU. */
struct pt_sched_cpu {
	__u64 since_busy;
	struct pt_sched_cpu_sum sums[2]; /* by gen, like a thread's */
	__u64 pad;
};

/* Key of the sums of entries into the kernel. */
struct pt_entry_key {
	__u32 tid;
	__u32 tgid;
	__u64 step_ns; /* boundary that opened the step, 0 if there is none */
	__u32 reason;
	__u8 state; /* enum pt_entry */
	__u8 gen;   /* pt_sched_ctl.gen when it was added */
	__u16 pad;
};

struct pt_entry_sum {
	__u64 ns;
	__u64 cnt; /* number of entries; one across a boundary counts where it began */
	char comm[16];
};

struct pt_sched_span {
	__u64 begin_ns;
	__u64 end_ns;
	__u64 cpu_ns;
	__u32 tid;
	__u32 tgid;
	__u32 reason;
	__u32 state;
	char comm[16];
};

/* In .bss. The loader writes drained_ns and gen, the programs write the counters. */
struct pt_sched_ctl {
	__u64 drained_ns; /* intervals that began earlier are sent whole, because the loader may
			     have cut them */
	__u32 gen;	  /* 0 or 1; the loader takes the sums of the other one */
	__u32 pad;
	__u64 lost_sums;    /* entries without room in the sums */
	__u64 lost_threads; /* events of threads without a place */
	__u64 lost_records; /* records and spans without room in their ring */
	__u64 missed;	    /* switches without a tracepoint, corrected by the run time */
	__u64 own_ns;	    /* time that these programs took in windows for events of targets'
			       threads */
};

#endif
