/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * While steps are looked for, operators have no probes but in short bursts, within --max-overhead of
 * what the process has run meanwhile. What tells of steps has probes all the time: a few hits a step.
 */
#ifndef PROFTRACE_BURSTS_H
#define PROFTRACE_BURSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct session;

/* Of one session, zeroed at first. */
struct bursts {
	uint64_t cnt, ns, calls; /* how many, how long in all, and what was seen called in them */
	double added_ns;	 /* by their hits, estimated */
	double need_ns;		 /* what the budget must have left before the next one */
	unsigned int idle;	 /* the latest so many in which the target called no operator, */
	bool descendants_ran;		 /* and a process that is followed beside it ran for longer than it */
	uint64_t weigh_seq, weigh_ns; /* step_seq and time when all probes came in to be weighed, */
	uint64_t weighed;	 /* how many steps had all of them, */
	uint64_t astray_ns;	 /* for how long what was no step had them, */
	uint64_t timed_ns;	 /* for how long a job without steps had them, */
	double weighed_ns;	 /* and what all that is estimated to have added */
};

/* Has the budget room for one? */
bool bursts__may(const struct session *s);
/* The same after so long, if the process runs all the time. */
bool bursts__may_within(const struct session *s, uint64_t ns);
/* One burst: operators have probes until a look is over or the budget is spent. */
struct burst {
	uint64_t most_calls; /* that may be seen in it */
	uint64_t begin_ns, own_ns, beside_ns; /* when it began; what had run by then: the target, what is followed */
	uint64_t seen_ns; /* when its probes were in; 0: there are none */
};

/* They have them in the target, and in what it forks meanwhile, but not in other followed processes. 0 or a negative
 * errno with err__set. */
int bursts__begin(struct session *s, struct burst *burst);
/* Call in any case. What was called between the two is in s->records.log. */
void bursts__end(struct session *s, const struct burst *burst);

/* All probes come in, and stay, to see which are worth it. */
int bursts__weigh(struct session *s);
/* That has been seen in so many steps; 0: they turned out to be none, and the probes go. */
void bursts__weighed(struct session *s, uint64_t steps);
/* Without steps: is too little seen yet, or has the budget room for more? */
bool bursts__may_weigh_on(const struct session *s);
/* That has been seen for so long, in which the process ran for ran_ns; returns what the hits are
 * estimated to have added to that, ns. */
double bursts__weighed_time(struct session *s, uint64_t measured_ns, uint64_t ran_ns);

/* For the summary's "cost"; NULL: operators had none of their own. */
json_t *bursts__json(const struct bursts *b);

#endif
