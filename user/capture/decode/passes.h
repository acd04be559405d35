/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Backward passes that have ended. A node lasts until the next node of its thread. The nodes of a device run on a
 * thread of that device. There nothing follows the last node until the next pass, so the node ends with its pass.
 */
#ifndef PROFTRACE_PASSES_H
#define PROFTRACE_PASSES_H

#include "bpf/ctl.h"
#include <stddef.h>
#include <stdint.h>

/* A node's record may come a second after its pass. There may be hundreds of other passes meanwhile. */
#define PASSES_MAX 4096

struct pass {
	uint64_t begin_ns, end_ns;
	uint32_t tid;
};

struct passes {
	struct pass ended[PASSES_MAX]; /* the latest passes, by their ends */
	size_t cnt;
	uint32_t looked_cnt; /* number of passes read from the probes' list */
	uint64_t looked_ns[PT_PASSES]; /* the ends last read at each place of that list */
};

/* Adds a pass. The same pass may come twice. */
void passes__note(struct passes *p, uint64_t begin_ns, uint64_t end_ns, uint32_t tid);
/* Reads the passes that the probes report at once. The span of a pass may come later than a node of the next one. */
void passes__look(struct passes *p, const struct pt_passes *latest);
/* When the innermost pass at ts_ns ended; a pass of this thread is preferred. 0: no such pass has ended. */
uint64_t passes__end(const struct passes *p, uint64_t ts_ns, uint32_t tid);

#endif
