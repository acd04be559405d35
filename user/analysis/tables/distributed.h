/* SPDX-License-Identifier: BSD-2-Clause */
/* Communication and computation as unions of time, for the table and for findings. */
#ifndef PROFTRACE_DISTRIBUTED_H
#define PROFTRACE_DISTRIBUTED_H

#include "analysis/launch_set.h"
#include "analysis/tables/by_stream.h"

struct distributed {
	struct stream_unions communication, computation, both; /* by device, or all devices
								  merged */
	struct stream_unions busy; /* both without the operators, which may only launch a
				      collective */
	struct launch_set launches; /* of operators named after a collective */
	const struct batch *noted;  /* the batch whose launches are in there */
	bool found;
};

int distributed__visit(const struct analysis *a, void *state, const struct batch *b);
int distributed__visit_work(const struct analysis *a, void *state, const struct device_work *w);
/* Communication that no computation hides, on the device with most. 0 if no device computes. */
uint64_t distributed__exposed_ns(struct distributed *d);
/* Collectives of the host if no device computes, else 0. */
uint64_t distributed__host_ns(struct distributed *d);
void distributed__clean(void *state);

#endif
