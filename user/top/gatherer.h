/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that asks the monitor. Who draws never waits for it, nor it for who draws. */
#ifndef PROFTRACE_TOP_GATHERER_H
#define PROFTRACE_TOP_GATHERER_H

#include <stdint.h>
#include "top/job_list.h"

#define GATHER_PLACES 4

struct gather_opts {
	const char *places[GATHER_PLACES]; /* the first that answers is taken; NULL after the last */
	const char *token;		   /* NULL: none */
	uint64_t interval_ns;
	int timeout_ms;
};

/* What came of asking once. */
struct gathered {
	struct job_list *jobs; /* NULL: see problem */
	char place[128], problem[256];
	uint64_t at_ns; /* CLOCK_MONOTONIC */
};

/* Asks all places in turn. 0, or a negative errno that `problem` explains. */
int gather__once(const struct gather_opts *o, struct gathered *out);

struct gatherer;
/* opts: stays as it is. 0, or a negative errno with err__set. */
int gatherer__start(const struct gather_opts *o, struct gatherer **out);
/* Readable when there is something to take. */
int gatherer__fd(const struct gatherer *g);
/* The newest, whose jobs are the caller's. False: nothing came since. */
bool gatherer__take(struct gatherer *g, struct gathered *out);
/* Asks for a window of this process; one at a time. False: the one before is not answered yet. */
bool gatherer__record(struct gatherer *g, int64_t pid);
/* The monitor's words on that. False: none yet. */
bool gatherer__take_answer(struct gatherer *g, char *to, size_t size);
/* Is not waited for. The process ends soon: its memory stays. */
void gatherer__stop(struct gatherer *g);

#endif
