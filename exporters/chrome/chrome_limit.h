/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends a Chrome trace before it grows beyond a size, and says in it what it has and what not. */
#ifndef PROFTRACE_CHROME_LIMIT_H
#define PROFTRACE_CHROME_LIMIT_H

#include "exporters/chrome/chrome_rows.h"
#include "exporters/parts/text_file.h"
#include "exporters/parts/timeline.h"

/* Kept for what is written behind the last event, and for the largest event. */
#define CHROME_LIMIT_MARGIN (2 * TEXT_ROOM_MAX)

struct chrome_limit {
	uint64_t limit_bytes; /* of the text, before it is compressed; 0: no limit */
	bool is_trial; /* only asks whether it is cut: ends there, says nothing */
	bool will_cut; /* that is known beforehand: it stands in the head */
	bool cut;
	uint64_t cut_ns;   /* all that began before is there; CLOCK_MONOTONIC */
	uint64_t left_out; /* events that began then or later */
	struct chrome_limit_step {
		uint64_t index, end_ns;
	} *steps; /* steps that began before the cut */
	size_t step_cnt, step_cap;
};

/* Call before each event is written, in order of begins, if there is a limit. *fits: whether the event may be
 * written. After the first that may not, none may. 0 or -ENOMEM. */
int chrome_limit__take(struct chrome_limit *l, const struct text_file *out, const struct event *e,
		       bool *fits);
/* If the trace was cut: a mark there, over all rows, behind another event. row: where it is drawn;
 * base_us: the trace's 0; steps: those of the recording. Behind traceEvents TensorBoard would lose
 * it. */
void chrome_limit__put(const struct chrome_limit *l, struct text_file *out,
		       const struct chrome_row *row, uint64_t base_us, uint64_t steps);
/* The same on stderr. bytes: of the whole text. */
void chrome_limit__say(const struct chrome_limit *l, uint64_t base_us, uint64_t steps,
		       uint64_t events, uint64_t bytes);
void chrome_limit__free(struct chrome_limit *l);

#endif
