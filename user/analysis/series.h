/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording as series: the time of each step, and of its phases, operators and kernels. */
#ifndef PROFTRACE_SERIES_H
#define PROFTRACE_SERIES_H

#include <jansson.h>
#include "model/model.h"

/* Series of the step, and, if the scheduler was recorded, of the time for which its thread ran. */
#define SERIES_RUN_NAME "run time"

enum series_kind { SERIES_STEP, SERIES_PHASE, SERIES_OPERATOR, SERIES_KERNEL, SERIES_KIND_CNT };

/* Times in ns, one per step. For an operator or kernel: the sum of its calls that ended in the
 * step. */
struct series {
	enum series_kind kind;
	const char *name; /* "step", "dataloader", "aten::conv2d" */
	uint64_t *ns;	  /* step_cnt of them */
	uint64_t calls;	  /* in all steps */
};

struct series_set {
	struct series *items;
	size_t cnt, cap;
	size_t step_cnt, step_cap;
	/* Per step: its time without the time for which its thread was ready and had no processor.
	 * Equals the step's series if that was not recorded. */
	uint64_t *less_ready_ns;
	bool has_ready;
	double ready_share;	/* share of the same in which the busiest device computed */
	double device_busy;	/* 0..1, of the same: what the busiest device computed */
	bool timer_only;	/* recording__is_timer_only */
	bool phase_only;	/* recorded with --detail phase: no operators but those of --op */
	const json_t *no_probe; /* the recording's `dropped_probes` (doc/reference/recording.md) */
};

/* The reason of a series whose function had no probe in the window. */
extern const char series_no_probe[];

/* Could the recording have such a series? NULL: yes. Else the reason why not. */
const char *series_set__unrecorded(const struct series_set *s, enum series_kind kind,
				   const char *name);

int series_set__read(const struct recording *r, bool raw_times, struct series_set *out);
/* NULL: it has none of that name. */
const struct series *series_set__find(const struct series_set *s, enum series_kind kind,
				      const char *name);
void series_set__free(struct series_set *s);

#endif
