/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of a session to `status` and `pause` (capture/control/control.c). */
#ifndef PROFTRACE_SESSION_ANSWER_H
#define PROFTRACE_SESSION_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include "monitor/messages.h"

struct session_answer {
	bool has_step; /* the session knows what a step is */
	uint64_t step; /* number of the latest step since the attach */
	bool is_open;  /* a window is open; since_step: its first step */
	uint64_t since_step;
	enum device_times device_times;
	char device_why[DEVICE_WHY]; /* why the session has no device times although the process uses CUDA */
	uint64_t lead_ns; /* time before a window in which probes are attached; 0: the answer does not say */
};

void session_answer__parse(const char *text, struct session_answer *out);

#endif
