/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kinds of probes that see calls. A kind knows how its groups attach and detach, what their hits cost, and who
 * counts the hits. Probes of node types are plain uprobes: node_types.c chooses between their rows. Pointer hooks are
 * no kind: the library in the target sets, counts and times them by function, and they have no group.
 */
#ifndef PROFTRACE_PROBE_KIND_H
#define PROFTRACE_PROBE_KIND_H

#include "capture/session.h"

struct probe_kind {
	const char *name;
	/* Attaches the group's probes anew, in the target and in followed processes. Returns 0 or a negative errno with
	 * err__set. */
	int (*attach)(struct session *s, enum probe_group group);
	void (*detach)(struct session *s, enum probe_group group);
	/* The estimated cost of a row, from the statistics of the programs. */
	double (*cost_ns)(const struct probe_cost *cost, const struct pt_probe_stat *stat);
	/* Hits in this window. decoded: the number that the records show. */
	uint64_t (*hits)(const struct session *s, uint64_t decoded);
};

const struct probe_kind *probe_kind__of(enum probe_group group);
/* Does this group have data breakpoints that may make steps? False for other kinds. */
bool probe_kind__makes_steps(const struct session *s, int group);

#endif
