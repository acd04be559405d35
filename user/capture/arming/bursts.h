/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * While proftrace looks for steps, operators have probes only in short bursts. The bursts stay within --max-overhead of
 * what the process has run since. The probes of steps are attached all the time: they have a few hits a step.
 */
#ifndef PROFTRACE_BURSTS_H
#define PROFTRACE_BURSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct session;

/* Of one session, zeroed at first. */
struct bursts {
	uint64_t cnt, ns, calls; /* number of bursts, their total length, and the calls seen in them */
	double added_ns;	 /* estimated cost of their hits */
	double need_ns;		 /* budget needed for the next burst */
	unsigned int idle;	 /* number of latest bursts without an operator call of the target */
	bool descendants_ran;		 /* in the latest burst the followed processes ran for longer than the target */
	uint64_t weigh_seq, weigh_ns; /* step_seq and time when all probes were attached for measuring */
	uint64_t weighed;	 /* number of steps with all probes */
	uint64_t astray_ns;	 /* time with all probes in which the supposed steps were none */
	uint64_t timed_ns;	 /* time with all probes in a job without steps */
	double weighed_ns;	 /* estimated cost of all probes in that time */
};

/* Does the budget allow a burst now? */
bool bursts__may(const struct session *s);
/* Will the budget allow a burst after `ns`, if the process runs all the time? */
bool bursts__may_within(const struct session *s, uint64_t ns);
/* One burst: operators have probes until a look is over or the budget is spent. */
struct burst {
	uint64_t most_calls; /* most calls to see in the burst */
	/* begin of the burst; CPU time until then of the target and of followed processes */
	uint64_t begin_ns, own_ns, beside_ns;
	uint64_t seen_ns; /* time when the probes were attached; 0: there are none */
};

/* Attaches the probes to the target and to what it forks meanwhile, not to other followed processes. Returns 0 or a
 * negative errno with err__set. */
int bursts__begin(struct session *s, struct burst *burst);
/* Always call it after bursts__begin(). s->records.log has the calls of the burst. */
void bursts__end(struct session *s, const struct burst *burst);

/* Attaches all probes to find out which are worth their cost. They stay attached. */
int bursts__weigh(struct session *s);
/* Call after measuring `steps` steps. 0: the steps were none. */
void bursts__weighed(struct session *s, uint64_t steps);
/* Without steps: were too few hits measured yet, or does the budget allow more? */
bool bursts__may_weigh_on(const struct session *s);
/* Call after measuring for measured_ns, in which the process ran for ran_ns. Returns the estimated cost of the hits,
 * ns. */
double bursts__weighed_time(struct session *s, uint64_t measured_ns, uint64_t ran_ns);

/* For the summary's "cost". NULL: operators had no probes before the window. */
json_t *bursts__json(const struct bursts *b);

#endif
