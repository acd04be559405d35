/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that asks the monitor. Neither this thread nor the one that draws waits for the
 * other. */
#ifndef PROFTRACE_TOP_GATHERER_H
#define PROFTRACE_TOP_GATHERER_H

#include <stdint.h>
#include "top/job_list.h"

#define GATHER_PLACES 4

struct gather_opts {
	const char *places[GATHER_PLACES]; /* places of monitors; the first that answers is used;
					      NULL after the last */
	const char *token;		   /* NULL: none */
	uint64_t interval_ns;
	int timeout_ms;
};

/* The result of one request. */
struct gathered {
	struct job_list *jobs; /* NULL: see problem */
	char place[128], problem[256];
	uint64_t at_ns; /* CLOCK_MONOTONIC */
};

/* Asks all places in turn. 0, or a negative errno that `problem` explains. */
int gather__once(const struct gather_opts *o, struct gathered *out);

struct gatherer;
/* opts: borrowed. 0, or a negative errno with err__set. */
int gatherer__start(const struct gather_opts *o, struct gatherer **out);
/* Readable when there is news. */
int gatherer__fd(const struct gatherer *g);
/* Takes the newest result; its jobs then belong to the caller. False: there is nothing new. */
bool gatherer__take(struct gatherer *g, struct gathered *out);
/* Asks for a window of this process, one at a time. False: the one before is not answered yet. */
bool gatherer__record(struct gatherer *g, int64_t pid);
/* The monitor's answer to that. False: there is none yet. */
bool gatherer__take_answer(struct gatherer *g, char *to, size_t size);
/* Does not wait for the thread. The process ends soon, so its memory stays. */
void gatherer__stop(struct gatherer *g);

#endif
