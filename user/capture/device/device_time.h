/* SPDX-License-Identifier: BSD-2-Clause */
/* Device time in the life of a session: nothing here does anything without a device source. */
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
	struct shim_link *link; /* until the session's device source has it */
	struct shim_attached attached;
	bool functions_alone;	 /* the library sees functions, and no device: there is no CUDA */
	bool attach_tried;
	bool never_loads; /* the process has nothing of CUDA */
	bool starts_late;	 /* the library came after that, and has not recorded yet */
	uint64_t cuda_looked_ns; /* when it was looked last whether the process has CUDA by now */
	bool told_why;		 /* the library stays out, though it was asked for */
	struct cupti_watch *watch; /* while there is a device source; may be NULL */
	bool yielded;		 /* CUPTI is another tool's by now */
	bool awaited;		 /* a window could not open yet, latest, for the library's sake */
	bool missed;		 /* it did not record when this window opened */
	char no_device[400];	 /* why there are no device times, though the target uses CUDA; may be empty */
};

/* A step that is over, but not yet in the file. */
struct held_step {
	uint32_t pid, tid;
	uint64_t step, begin_ns, end_ns;
};

struct held_steps {
	struct held_step *list;
	size_t cnt, cap;
	uint64_t read_ns; /* when the device's side was read last */
};

/* A step goes to the file when its activities have had time to come. */
int device_time__step(struct session *s, const struct held_step *step);

#endif
