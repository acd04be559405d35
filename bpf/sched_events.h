/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What the scheduler programs and the loader share. Threads and CPUs are state machines: the open
 * interval of each waits in a map, and is added to a sum when it ends. What the sums cannot hold
 * exactly (an interval across a window's edge, or across more than PT_SCHED_MAX_SPLIT steps)
 * travels whole, as a span, and the loader cuts it. All times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef PROFTRACE_SCHED_EVENTS_H
#define PROFTRACE_SCHED_EVENTS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_SCHED_MAX_THREADS 32768
#define PT_SCHED_MAX_SUMS    65536
#define PT_SCHED_MAX_SPLIT   8		 /* step boundaries that the kernel cuts an interval at */
#define PT_SCHED_TIMED	     8		 /* of so many runs of a program one is timed, for all */
#define PT_SCHED_SPAN_BYTES  (1 << 20)	 /* ring of spans */
#define PT_SCHED_CPU	     0xffffffffu /* tgid of a CPU's rows; tid is the CPU's index */

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

/* One word, so that it is always whole: (since_ns << 1) | busy; 0: idle since the start. */
struct pt_sched_cpu {
	__u64 since_busy;
	__u64 pad[7]; /* a cache line for each CPU */
};

struct pt_sched_key {
	__u32 tid;
	__u32 tgid;
	__u64 step_ns; /* boundary that opened the step, 0 if none did; of a CPU: what opened the window */
	__u32 reason;
	__u8 state;
	__u8 gen; /* pt_sched_ctl.gen when it was added */
	__u16 pad;
};

struct pt_sched_sum {
	__u64 ns;
	__u64 cpu_ns; /* RUN: by the kernel's own count, which leaves out what a hypervisor stole */
	__u64 cnt;    /* intervals; one that is cut at a boundary counts where it began */
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
	__u64 lost_sums;    /* intervals that found the sums full */
	__u64 lost_threads; /* threads that found their map full, counted per event */
	__u64 lost_spans;   /* spans that found their ring full */
	__u64 missed;	    /* switches that no tracepoint told of; made good by run time */
	__u64 own_ns;	    /* what these programs took in windows, at events of targets' threads */
};

#endif
