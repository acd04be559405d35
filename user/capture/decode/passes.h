/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Backward passes that have ended. A node lasts until the next one of its thread. The nodes for a
 * device run on a thread of that device, where nothing follows the last one until the next pass.
 */
#ifndef PROFTRACE_PASSES_H
#define PROFTRACE_PASSES_H

#include "bpf/ctl.h"
#include <stddef.h>
#include <stdint.h>

/* A node may be told of a second after its pass, in which there may be hundreds of others. */
#define PASSES_MAX 4096

struct pass {
	uint64_t begin_ns, end_ns;
	uint32_t tid;
};

struct passes {
	struct pass ended[PASSES_MAX]; /* the latest, by their ends */
	size_t cnt;
	uint32_t looked_cnt; /* of those that the probes told of */
	uint64_t looked_ns[PT_PASSES]; /* the ends that were in their places */
};

/* One may be told twice. */
void passes__note(struct passes *p, uint64_t begin_ns, uint64_t end_ns, uint32_t tid);
/* Those that the probes tell of at once: the span of one may come after a node behind it. */
void passes__look(struct passes *p, const struct pt_passes *latest);
/* When the innermost pass that was under way at ts_ns ended; of this thread, if it had one. 0: none
 * that has ended. */
uint64_t passes__end(const struct passes *p, uint64_t ts_ns, uint32_t tid);

#endif
