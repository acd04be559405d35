/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What the scheduler programs and the loader share. Threads and CPUs are state machines. Each has a
 * place in a map for its open interval and for sums of ended ones. A thread's sums are those of its
 * current step. When the step is another one, they are a record of the ring. Some intervals cross a
 * window's edge or more than one step boundary, so sums cannot hold them exactly. They travel
 * whole, as spans, and the loader cuts them. All times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef PROFTRACE_SCHED_EVENTS_H
#define PROFTRACE_SCHED_EVENTS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_SCHED_MAX_THREADS 65536 /* half of them fit: 4 of 1000 are led to places that are taken */
#define PT_SCHED_MIN_THREADS 4096
#define PT_SCHED_WAYS	     16 /* a thread has one of the places that its id is led to */
#define PT_SCHED_GONE	     (1u << 31) /* of a thread's id: it ended, the loader takes its sums */
#define PT_SCHED_PARTS	     4
#define PT_SCHED_TIMED	     8		 /* of so many runs of a program one is timed, for all */
#define PT_SCHED_CPU	     0xffffffffu /* tgid of a CPU's rows; tid is the CPU's index */
#define PT_ENTRY_MAX_SUMS    262144
#define PT_ENTRY_MAX_SPLIT   8 /* step boundaries that the kernel cuts an entry at */

/* The same numbers as enum sched_state of the recording. A CPU is RUN (busy) or BLOCKED (idle). */
enum pt_sched_state { PT_SCHED_RUN = 1, PT_SCHED_RUNNABLE = 2, PT_SCHED_BLOCKED = 3 };

/* Into the kernel and back: beside the states, not one of them. A fault's reason is an enum pt_fault,
 * a call's its number. */
enum pt_entry { PT_ENTRY_SYSCALL = 4, PT_ENTRY_FAULT = 5 };
enum pt_fault { PT_FAULT_ANONYMOUS = 1, PT_FAULT_FILE = 2, PT_FAULT_DISK = 3 };

/* Why a thread does not run: (enum pt_wait << 16) | system call number or enum pt_wait_call. */
enum pt_wait {
	PT_WAIT_NONE = 0,      /* woken and waiting for a CPU */
	PT_WAIT_PREEMPTED = 1, /* lost its CPU while runnable */
	PT_WAIT_SLEEP = 2,     /* interruptible */
	PT_WAIT_DISK = 3,      /* uninterruptible */
	PT_WAIT_STOPPED = 4,   /* by a signal or a tracer */
};
enum pt_wait_call {
	PT_CALL_NONE = 0xffff,	  /* not in a system call: a page fault */
	PT_CALL_FOREIGN = 0xfffe, /* a 32-bit program: numbered by another table */
	PT_CALL_WORKER = 0xfffd,  /* a kernel worker of the process (io_uring) */
	PT_CALL_KTHREAD = 0xfffc, /* a kernel thread, which makes none */
};

struct pt_sched_open {
	__u64 since_ns;
	__u64 exec_ns; /* the kernel's own count of run time when the interval began */
	__u32 tgid;
	__u32 reason;
	__u32 state; /* enum pt_sched_state or pt_entry */
	__u32 again; /* a fault that will be tried again */
};

/* Time that a thread did not run, by what it did: state << PT_SCHED_STATE_SHIFT | reason. */
#define PT_SCHED_STATE_SHIFT 24
struct pt_sched_part {
	__u64 ns; /* 0: not in use */
	__u32 what;
	__u32 cnt; /* intervals; one that is cut at a boundary counts where it began */
};

/* What a thread did in one step. */
struct pt_sched_step {
	__u64 step_ns; /* boundary that opened it, 0 if none did */
	__u64 run_ns;
	__u64 cpu_ns; /* the same by the kernel's count, without time that a hypervisor stole */
	__u64 run_cnt;
	struct pt_sched_part parts[PT_SCHED_PARTS];
};

static inline int pt_sched_step_in_use(const struct pt_sched_step *step)
{
	return step->run_ns || step->parts[0].ns;
}

/*
 * A thread's place. Its events are ordered by the scheduler's locks. The programs add to the sums
 * of pt_sched_ctl.gen, the others are the loader's. open.state 0: the look at earlier threads is
 * filling it.
 */
struct pt_sched_thread {
	struct pt_sched_open open;
	char comm[16];
	__u64 slept_ns, woken_ns; /* it was blocked, latest, in between, but for a lock */
	struct pt_sched_step steps[2];
};

/* Whose the places are, 0: nobody's. */
struct pt_sched_set {
	__u32 tids[PT_SCHED_WAYS];
};

/* The sums of a step that is over, or of one whose parts are full. */
struct pt_sched_record {
	__u32 tid, tgid;
	char comm[16];
	struct pt_sched_step step;
};

struct pt_sched_cpu_sum {
	__u64 window_ns; /* what opened the window, 0: not in use */
	__u64 busy_ns, idle_ns;
};

/* since_busy is one word, so that it is always whole: (since_ns << 1) | busy; 0: idle since the
 * start. A cache line for each CPU. */
struct pt_sched_cpu {
	__u64 since_busy;
	struct pt_sched_cpu_sum sums[2]; /* by gen, as a thread's */
	__u64 pad;
};

/* Entries into the kernel are summed by these. */
struct pt_entry_key {
	__u32 tid;
	__u32 tgid;
	__u64 step_ns; /* boundary that opened the step, 0 if none did */
	__u32 reason;
	__u8 state; /* enum pt_entry */
	__u8 gen;   /* pt_sched_ctl.gen when it was added */
	__u16 pad;
};

struct pt_entry_sum {
	__u64 ns;
	__u64 cnt; /* entries; one across a boundary counts in the step in which it began */
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

/* In .bss; drained_ns and gen are the loader's, the counters the programs'. */
struct pt_sched_ctl {
	__u64 drained_ns; /* what began before it goes whole to the loader, who may have cut it */
	__u32 gen;	  /* 0 or 1; the loader takes the sums of the one that is not current */
	__u32 pad;
	__u64 lost_sums;    /* entries that found the sums full */
	__u64 lost_threads; /* threads that found no place, counted per event */
	__u64 lost_records; /* records and spans that found their ring full */
	__u64 missed;	    /* switches that no tracepoint told of; made good by run time */
	__u64 own_ns;	    /* what these programs took in windows, at events of targets' threads */
};

#endif
