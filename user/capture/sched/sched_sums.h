/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of scheduler time by {thread, step, state, reason}. They come from the kernel's sums, and from whole intervals
 * that are cut here at window edges and step boundaries. No BPF in this file.
 *
 * Functions return 0 or -ENOMEM.
 */
#ifndef PROFTRACE_SCHED_SUMS_H
#define PROFTRACE_SCHED_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include "bpf/sched_events.h"

struct sched_sum_row {
	uint64_t step_ns; /* the boundary that opened the step; 0: none */
	uint64_t step;	  /* the step's number; EVENT_NO_ID: outside of steps */
	uint64_t ns, cpu_ns, cnt;
	uint32_t tid, tgid; /* for a CPU: its index and PT_SCHED_CPU */
	uint32_t reason;    /* as in bpf/sched_events.h */
	uint32_t state;	    /* enum sched_state */
	char comm[16];	    /* empty if unknown */
};

struct sched_boundary {
	uint64_t ts_ns, step;
};

/* An interval that was open when a window was drained. It is counted up to through_ns. */
struct sched_cut {
	uint64_t begin_ns, through_ns;
	uint32_t tid, tgid;
};

struct sched_sums {
	struct sched_sum_row *rows;
	size_t row_cnt, row_cap;
	struct sched_boundary *boundaries; /* ascending */
	size_t boundary_cnt, boundary_cap;
	struct pt_sched_span *spans; /* they reach into windows that are not drained yet */
	size_t span_cnt, span_cap;
	struct sched_cut *cuts; /* sorted by thread, then begin, then through */
	size_t cut_cnt, cut_cap;
};

/* A step begins (step EVENT_NO_ID: no step begins). ts_ns is later than all boundaries before. */
int sched_sums__boundary(struct sched_sums *s, uint64_t ts_ns, uint64_t step);

/* Add the kernel's sums: of a thread in a step, of a CPU in a window, of a thread's entries. */
int sched_sums__record(struct sched_sums *s, const struct pt_sched_record *record);
int sched_sums__cpu(struct sched_sums *s, uint32_t cpu, const struct pt_sched_cpu_sum *sum);
int sched_sums__entry(struct sched_sums *s, const struct pt_entry_key *key,
		      const struct pt_entry_sum *sum);

/* Adds the part of the interval in [open_ns, close_ns), cut at the boundaries. */
int sched_sums__interval(struct sched_sums *s, const struct pt_sched_span *span, uint64_t open_ns,
			 uint64_t close_ns);

/* Adds open intervals: span->end_ns is the window's end. Remembers each for sched_sums__span(). */
int sched_sums__cut(struct sched_sums *s, const struct pt_sched_span *spans, size_t cnt,
		    uint64_t open_ns);

/* Keeps an ended interval for sched_sums__window(), without the part that sched_sums__cut() counted. */
int sched_sums__span(struct sched_sums *s, const struct pt_sched_span *span);

/*
 * Completes the window [open_ns, close_ns): adds the kept intervals, merges rows with the same key, and moves the
 * window's rows to the front. *cnt is their number. They stay valid until the next call.
 */
int sched_sums__window(struct sched_sums *s, uint64_t open_ns, uint64_t close_ns, size_t *cnt);

/* Forgets the first cnt rows, and the intervals, cuts and boundaries that later windows do not need. */
void sched_sums__forget(struct sched_sums *s, uint64_t close_ns, size_t cnt);

void sched_sums__free(struct sched_sums *s);

#endif
