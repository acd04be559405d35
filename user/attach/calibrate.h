/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench that measures the cost of probes: a child process that calls nearly empty functions of
 * proftrace on request. attach_cost__measure uses it, and capture does for its span programs.
 */
#ifndef PROFTRACE_CALIBRATE_H
#define PROFTRACE_CALIBRATE_H

#include <stdint.h>
#include <sys/types.h>
#include "attach/attach.h"

enum calibration_function {
	CALIBRATE_BARE = 0, /* never has a probe: the cost of the call itself */
	CALIBRATE_EMULATED, /* begins with push */
	CALIBRATE_STEPPED,  /* begins with sub */
	CALIBRATE_PAIR,	    /* begins with push; gets an entry and a return probe */
	CALIBRATE_SITE,	    /* begins with push; gets an entry probe and one at the end site */
	CALIBRATE_SITE_END, /* a je inside CALIBRATE_SITE that each call passes; cannot be called */
};

/* The function's place in proftrace's own file; is_return is false, cookie 0. Only CALIBRATE_PAIR
 * may get a return probe. */
void calibration__point(enum calibration_function fn, struct attach_point *point);

/* Calls CALIBRATE_EMULATED from this thread. */
void calibration__call_emulated(unsigned int calls);

struct calibration;
/* Forks the child; 0 or a negative errno with err__set. Fork before threads are made. */
int calibration__start(struct calibration **out);
pid_t calibration__pid(const struct calibration *c);
/* The child calls fn `calls` times in each of `rounds` rounds. Returns nanoseconds per call in
 * the fastest round, because disturbances only add time. Between calls the child reads `evicted`
 * bytes of memory, so a call finds the caches as a working program leaves them. 0: calls in a
 * tight loop. */
int calibration__run(struct calibration *c, enum calibration_function fn, uint64_t evicted,
		     unsigned int rounds, unsigned int calls, double *ns_per_call);
void calibration__stop(struct calibration *c);

/* The programs of bpf/calibrate.bpf.c, loaded as an object of their own. method: not
 * ATTACH_AUTO. */
struct calibration_programs {
	struct bpf_program *empty, *empty_return, *count;
	const uint64_t *hits; /* of the program `count` */
	struct proftrace_bpf *skel;
};
int calibration_programs__load(enum attach_method method, struct calibration_programs **out);
void calibration_programs__free(struct calibration_programs *p);
/* Frees both in a separate thread. Nobody needs to wait for the kernel's grace periods if the
 * probed process is a child that ended, or proftrace itself. The end of the process waits for that
 * thread. Either argument may be NULL. */
void calibration__discard(struct attach_set *set, struct calibration_programs *p);

#endif
