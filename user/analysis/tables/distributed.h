/* SPDX-License-Identifier: BSD-2-Clause */
/* Communication and computation as unions of time, for the table and for what is found in them. */
#ifndef PROFTRACE_DISTRIBUTED_H
#define PROFTRACE_DISTRIBUTED_H

#include "analysis/launch_set.h"
#include "analysis/tables/by_stream.h"

struct distributed {
	struct stream_unions communication, computation, both; /* by device, or merged */
	struct stream_unions busy; /* both without operators, which may only launch a collective */
	struct launch_set launches; /* of operators named after a collective */
	const struct batch *noted;  /* its launches are in there */
	bool found;
};

int distributed__visit(const struct analysis *a, void *state, const struct batch *b);
int distributed__visit_work(const struct analysis *a, void *state, const struct device_work *w);
/* Communication that no computation hides, of the device that has most; 0 where none computes. */
uint64_t distributed__exposed_ns(struct distributed *d);
/* Collectives of the host where no device computes, else 0. */
uint64_t distributed__host_ns(struct distributed *d);
void distributed__clean(void *state);

#endif
