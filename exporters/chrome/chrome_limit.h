/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends a Chrome trace before it exceeds a size, and says in it what is missing. */
#ifndef PROFTRACE_CHROME_LIMIT_H
#define PROFTRACE_CHROME_LIMIT_H

#include "exporters/chrome/chrome_rows.h"
#include "exporters/parts/text_file.h"
#include "exporters/parts/timeline.h"

/* Room for what is written after the last event, and for the largest event. */
#define CHROME_LIMIT_MARGIN (2 * TEXT_ROOM_MAX)

struct chrome_limit {
	uint64_t limit_bytes; /* of the uncompressed text; 0: no limit */
	bool is_trial; /* only finds out whether the trace is cut; writes no message */
	bool will_cut; /* if known in advance: the head says so */
	bool cut;
	uint64_t cut_ns;   /* everything that began earlier is in the trace; CLOCK_MONOTONIC */
	uint64_t left_out; /* events that began at or after cut_ns */
	struct chrome_limit_step {
		uint64_t index, end_ns;
	} *steps; /* steps that began before the cut */
	size_t step_cnt, step_cap;
};

/* If there is a limit, call it before each event, in order of begins. *fits: may the event be
 * written? After the first refusal, no event may be written. 0 or -ENOMEM. */
int chrome_limit__take(struct chrome_limit *l, const struct text_file *out, const struct event *e,
		       bool *fits);
/* If the trace was cut: writes a mark at the cut, over all rows. row: where it is drawn; base_us:
 * the trace's 0; steps: those of the recording. It must follow another event, because TensorBoard
 * would ignore it after traceEvents. */
void chrome_limit__put(const struct chrome_limit *l, struct text_file *out,
		       const struct chrome_row *row, uint64_t base_us, uint64_t steps);
/* Reports the same on stderr. bytes: of the whole text. */
void chrome_limit__say(const struct chrome_limit *l, uint64_t base_us, uint64_t steps,
		       uint64_t events, uint64_t bytes);
void chrome_limit__free(struct chrome_limit *l);

#endif
