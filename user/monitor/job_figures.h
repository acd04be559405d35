/* SPDX-License-Identifier: BSD-2-Clause */
/* What the monitor takes from a window of all ranks: out of the JSON of `proftrace report` of their recordings. */
#ifndef PROFTRACE_JOB_FIGURES_H
#define PROFTRACE_JOB_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

struct job_figures {
	bool is_judged;	  /* what is needed to name a straggler was recorded */
	int pid;	  /* of the rank that the others wait for, 0: none is named */
	double wait_ratio; /* share of a step that the others wait for it */
	char phase[32];	  /* in which it takes longer, "": none explains it */
};

/* text: of a process that may have been taken over. 0, or a negative errno. */
int job_figures__parse(const char *text, size_t len, struct job_figures *out);

#endif
