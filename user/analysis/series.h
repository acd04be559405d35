/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording as series: for each step how long it, its phases, operators and kernels took. */
#ifndef PROFTRACE_SERIES_H
#define PROFTRACE_SERIES_H

#include <jansson.h>
#include "model/model.h"

/* The step's series and, if the scheduler was recorded, that of the time that its thread ran. */
#define SERIES_RUN_NAME "run time"

enum series_kind { SERIES_STEP, SERIES_PHASE, SERIES_OPERATOR, SERIES_KERNEL, SERIES_KIND_CNT };

/* Times in ns, one per step: of an operator or kernel the sum of its calls that ended in it. */
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
	/* By step, of the thread that makes them: without its time ready but without a processor.
	 * As the step's own series where that was not recorded. */
	uint64_t *less_ready_ns;
	bool has_ready;
	double ready_share;	/* 0..1, of all steps' time; 0: not recorded */
	double device_busy;	/* 0..1, of the same: what the busiest device computed */
	bool timer_only;	/* recording__is_timer_only */
	bool phase_only;	/* of --detail phase: no operators but those of --op */
	const json_t *no_probe; /* the recording's `dropped_probes` (doc/reference/recording.md) */
};

/* The reason where a function was left out of the window. */
extern const char series_no_probe[];

/* Could the recording have such a series at all? NULL: it could; else the reason. */
const char *series_set__unrecorded(const struct series_set *s, enum series_kind kind,
				   const char *name);

int series_set__read(const struct recording *r, bool raw_times, struct series_set *out);
/* NULL: it has none of that name. */
const struct series *series_set__find(const struct series_set *s, enum series_kind kind,
				      const char *name);
void series_set__free(struct series_set *s);

#endif
