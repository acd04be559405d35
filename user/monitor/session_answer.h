/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of a session to `status` and `pause` (capture/control/control.c). */
#ifndef PROFTRACE_SESSION_ANSWER_H
#define PROFTRACE_SESSION_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

struct session_answer {
	bool has_step; /* it knows what a step is */
	uint64_t step; /* the latest, counted since it attached */
	uint64_t lead_ns; /* before a window, in which probes are attached; 0: not said */
};

void session_answer__parse(const char *text, struct session_answer *out);

#endif
