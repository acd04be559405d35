/* SPDX-License-Identifier: BSD-2-Clause */
/* Device times in the life of a session. Does nothing without a device source. */
#ifndef PROFTRACE_DEVICE_TIME_H
#define PROFTRACE_DEVICE_TIME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "device/shim_attach.h"

struct cupti_watch;
struct session;
struct shim_link;

/* Our library in the target, and CUPTI in it. */
struct cupti {
	struct shim_link *link; /* NULL after the session's device source has taken it over */
	struct shim_attached attached;
	bool functions_alone;	 /* our library sees functions but no device, since there is no CUDA */
	bool attach_tried;
	bool never_loads; /* the process has no part of CUDA */
	bool starts_late;	 /* the library was loaded later and has not recorded yet */
	uint64_t cuda_looked_ns; /* time of the latest look whether the process has CUDA */
	bool told_why;		 /* why the library is not loaded, although the user asked for it, was printed */
	struct cupti_watch *watch; /* while there is a device source; may be NULL */
	bool yielded;		 /* another tool owns CUPTI now */
	bool awaited;		 /* the latest delay of a window was because of the library */
	bool missed;		 /* the library did not record when this window opened */
	char no_device[400];	 /* why there are no device times although the target uses CUDA; may be empty */
};

/* A step that has ended and is not in the file yet. */
struct held_step {
	uint32_t pid, tid;
	uint64_t step, begin_ns, end_ns;
};

struct held_steps {
	struct held_step *list;
	size_t cnt, cap;
	uint64_t read_ns; /* time of the latest read of the library's records */
};

/* Writes the step to the file later, when its activities have had time to come. */
int device_time__step(struct session *s, const struct held_step *step);

#endif
