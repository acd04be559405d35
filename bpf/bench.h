/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Input and output of the program by which bench/ring_to_file fills the ring. */
#ifndef PROFTRACE_BENCH_H
#define PROFTRACE_BENCH_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_BENCH_OPS   1024 /* operators of one step, a power of two; the second half are nodes */
#define PT_BENCH_TYPES 32   /* types of backward nodes, a power of two */

struct pt_bench {
	__u64 vtable;	     /* address of the first type's vtable, in the loader */
	__u64 vtable_stride; /* bytes between vtables */
	__u32 row_cnt;	     /* rows 1..row_cnt are operators; the next row is for nodes */
	__u32 batches;	     /* records to make in this run */
	/* kept by the program between runs */
	__u64 clock_ns;
	__u64 pos; /* spans made */
	__u64 lost;
	__u64 rng;
};

#endif
