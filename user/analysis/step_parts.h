/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a step, in the order of all outputs. */
#ifndef PROFTRACE_STEP_PARTS_H
#define PROFTRACE_STEP_PARTS_H

#include "model/model.h"

enum { STEP_PHASES = 4, STEP_PARTS }; /* the rest of the step comes last */

extern const struct step_part {
	enum span_kind kind; /* index of step.phase_ns */
	const char *key;     /* in JSON and CSV */
	const char *title;
} step_parts[STEP_PARTS];

/* Does a recording of --timer-only have this part? It has the wait for data. */
bool step_part__is_timed(size_t part);

/* Does the step have time in some phase? */
bool step__has_phase(const struct step *step);

#define STEP_WHOLE (-1)
/* Median of the steps' times in ns, or of one part's. part: a kind, or STEP_WHOLE. 0 or -ENOMEM. */
int steps__median(const struct step *steps, size_t cnt, int part, uint64_t *median_ns);

#endif
