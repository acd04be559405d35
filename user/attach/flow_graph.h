/* SPDX-License-Identifier: BSD-2-Clause */
/* The instructions of a function as a flow graph. */
#ifndef PROFTRACE_FLOW_GRAPH_H
#define PROFTRACE_FLOW_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_SUCCESSORS 2
#define FLOW_NOWHERE	UINT16_MAX

struct flow_node {
	uint16_t next[FLOW_SUCCESSORS]; /* FLOW_NOWHERE: no successor */
	bool is_start, is_end;
};

/*
 * The nodes that every way from a start to an end passes (the dominators of the ends), in the order
 * of a way. `out` has room for cnt nodes. Returns their number; -ENOENT: no way leads to an end;
 * -ENOMEM. The time is proportional to cnt.
 */
int flow_graph__dominators(const struct flow_node *nodes, uint16_t cnt, uint16_t *out);

#endif
