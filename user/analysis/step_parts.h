/* SPDX-License-Identifier: BSD-2-Clause */
/* What a step consists of, in the order that everything prints it. */
#ifndef PROFTRACE_STEP_PARTS_H
#define PROFTRACE_STEP_PARTS_H

#include "model/model.h"

enum { STEP_PHASES = 4, STEP_PARTS }; /* the rest of the step comes last */

extern const struct step_part {
	enum span_kind kind; /* index of step.phase_ns */
	const char *key;     /* in JSON and CSV */
	const char *title;
} step_parts[STEP_PARTS];

/* Does a recording of --timer-only know this part? It sees the wait for data. */
bool step_part__is_timed(size_t part);

/* Has it time in a phase? */
bool step__has_phase(const struct step *step);

#define STEP_WHOLE (-1)
/* Median of the steps' times, ns, or of one of their parts'; part: a kind, or STEP_WHOLE. 0 or
 * -ENOMEM. */
int steps__median(const struct step *steps, size_t cnt, int part, uint64_t *median_ns);

#endif
