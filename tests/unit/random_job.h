/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording of a job that nobody would write: steps with and without gaps, or none; threads and a
 * worker; devices behind their host or not; calls, collectives and ranges that cross steps. */
#ifndef PROFTRACE_TESTS_RANDOM_JOB_H
#define PROFTRACE_TESTS_RANDOM_JOB_H

#include "model_synth.h"

/* Returns an open recording, the same for the same seed. The caller frees it. */
struct synth random_job(uint64_t seed);

#endif
