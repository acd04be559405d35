/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings of jobs that have an illness, for the tests of findings. */
#ifndef PROFTRACE_FINDING_JOB_H
#define PROFTRACE_FINDING_JOB_H

#include "model_synth.h"

#define MS    1000000ull
#define MB    1000000
#define STEPS 10

struct job {
	struct synth s;
	uint32_t stream;
	uint64_t id;
};

/* The parts of a step, in ms. */
struct step_plan {
	uint64_t loader, forward, backward, optimizer; /* in this order */
	uint64_t total;				       /* 0: the sum */
};

uint64_t step_plan__ms(const struct step_plan *p);

static const struct step_plan healthy = {2, 40, 45, 8, 0};

struct job job__with(const char *meta);
struct job job__new(void);
/* Whose operators run on the thread that calls them. */
struct job job__torch(void);

/* A step without its step event, so that a test can add to it. Returns its end. */
uint64_t job__begin_step(struct job *j, uint64_t at, const struct step_plan *p);
void job__plain_steps(struct job *j, const struct step_plan *p);
/* Steps of which number `odd` is another. */
void job__steps_but(struct job *j, const struct step_plan *usual, uint64_t odd,
		    const struct step_plan *odd_plan);

/* Adds a call and the device work that it launches. */
void job__launch(struct job *j, const char *call, enum span_category what, const char *name,
		 uint64_t call_begin, uint64_t call_end, uint64_t begin, uint64_t end,
		 int64_t bytes);
/* The device works all the time, by kernels of 10 ms. */
void job__busy_device(struct job *j, uint64_t at, uint64_t end);

/* Adds a thread's states in a step, from the scheduler. */
void job__sched(struct job *j, uint32_t track, uint64_t step, uint8_t state, uint64_t ms);
void job__sched_for(struct job *j, uint32_t track, uint64_t step, uint8_t state, const char *reason,
		    uint64_t ms);

/* Ends the job, and expects only this finding (NULL: none), with this text in it. */
void job__expect(struct job *j, const char *rule, const char *text);
void job__expect_of(struct job *j, const char *summary, const char *rule, const char *text);
void job__expect_two(struct job *j, const char *first, const char *second, const char *text);

#endif
