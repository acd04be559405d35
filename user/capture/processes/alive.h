/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the target still exists, and whether it is stopped. */
#ifndef PROFTRACE_ALIVE_H
#define PROFTRACE_ALIVE_H

#include <stdint.h>

struct alive {
	uint64_t next_ns;    /* time of the next look at the target */
	unsigned int doubts; /* looks that found the target stopped by a tracer, which may continue it at once */
};

#endif
