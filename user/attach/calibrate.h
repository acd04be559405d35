/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench on which probes are priced: a child of ours that calls near-empty functions of this
 * very program when told to. Used by attach_cost__measure, and by capture for its own span
 * programs.
 */
#ifndef PROFTRACE_CALIBRATE_H
#define PROFTRACE_CALIBRATE_H

#include <stdint.h>
#include <sys/types.h>
#include "attach/attach.h"

enum calibration_function {
	CALIBRATE_BARE = 0, /* never probed: the price of the call itself */
	CALIBRATE_EMULATED, /* begins with push */
	CALIBRATE_STEPPED,  /* begins with sub */
	CALIBRATE_PAIR,	    /* begins with push; for an entry and a return probe together */
	CALIBRATE_SITE,	    /* begins with push; for an entry probe and one at the end site */
	CALIBRATE_SITE_END, /* in CALIBRATE_SITE, a je that each call passes; not to be called */
};

/* Where the function lies in our own file; is_return false, cookie 0. Only
 * CALIBRATE_PAIR may carry a return probe. */
void calibration__point(enum calibration_function fn, struct attach_point *point);

/* Calls CALIBRATE_EMULATED from this thread. */
void calibration__call_emulated(unsigned int calls);

struct calibration;
/* Forks the child; 0 or a negative errno with err__set. Fork before threads are made. */
int calibration__start(struct calibration **out);
pid_t calibration__pid(const struct calibration *c);
/* Lets the child call fn `rounds` times `calls` times; nanoseconds per call, least of the rounds
 * (disturbances only add). Between calls the child reads `evicted` bytes of memory, so a call finds
 * the caches as a working program leaves them. 0: calls in a tight loop. */
int calibration__run(struct calibration *c, enum calibration_function fn, uint64_t evicted,
		     unsigned int rounds, unsigned int calls, double *ns_per_call);
void calibration__stop(struct calibration *c);

/* The programs of bpf/calibrate.bpf.c, alone in an object of their own. method: no ATTACH_AUTO. */
struct calibration_programs {
	struct bpf_program *empty, *empty_return, *count;
	const uint64_t *hits; /* of `count` */
	struct proftrace_bpf *skel;
};
int calibration_programs__load(enum attach_method method, struct calibration_programs **out);
void calibration_programs__free(struct calibration_programs *p);
/* Frees both from a thread of its own. Nobody needs to wait for the kernel's grace periods if the
 * probes were in a child that is gone or in ourselves. The end of the process waits for it. Either
 * may be NULL. */
void calibration__discard(struct attach_set *set, struct calibration_programs *p);

#endif
