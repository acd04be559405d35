/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads from the JSON of `proftrace diff` which phase takes longer than in the baseline. */
#ifndef PROFTRACE_ALARM_FIGURES_H
#define PROFTRACE_ALARM_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

struct alarm_figures {
	double step_before_s, step_after_s; /* mean steps */
	/* The phase that grew most, and by how much a step. "": none took longer. */
	char cause[32];
	double cause_s;
	bool is_chance; /* by the comparison's test, chance may explain the longer step */
};

/* text: from a process that may be under attack, so each value is checked. 0, or a negative errno. */
int alarm_figures__parse(const char *text, size_t len, struct alarm_figures *out);
/* "dataloader takes 8.200 ms more of a step of 30.12 ms". */
void alarm_figures__describe(const struct alarm_figures *f, char *out, size_t size);

#endif
