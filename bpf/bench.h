/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What bench/ring_to_file gives to the program that fills the ring, and gets back. */
#ifndef PROFTRACE_BENCH_H
#define PROFTRACE_BENCH_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_BENCH_OPS   1024 /* operators of one step, a power of two; the second half are nodes */
#define PT_BENCH_TYPES 32   /* types of backward nodes, a power of two */

struct pt_bench {
	__u64 vtable;	     /* address in the loader of the first type's */
	__u64 vtable_stride; /* bytes to the next one */
	__u32 row_cnt;	     /* rows 1..row_cnt are operators, the one after them nodes */
	__u32 batches;	     /* records to make in this run */
	/* written by the program, kept from run to run */
	__u64 clock_ns;
	__u64 pos; /* spans made */
	__u64 lost;
	__u64 rng;
};

#endif
