/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the target is still there, and goes on. */
#ifndef PROFTRACE_ALIVE_H
#define PROFTRACE_ALIVE_H

#include <stdint.h>

struct alive {
	uint64_t next_ns;    /* when it is looked at again */
	unsigned int doubts; /* looks that found it stopped by a tracer, which may let it go on at once */
};

#endif
