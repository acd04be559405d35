/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kinds of probes by which calls are seen. A kind says how a group of it comes and goes, what its hits cost, and
 * who counts them. Probes of node types are of the plain kind: node_types.c chooses between their rows. Pointer hooks
 * are no kind: the library in the target sets, counts and times them by function, and no group of them comes or goes.
 */
#ifndef PROFTRACE_PROBE_KIND_H
#define PROFTRACE_PROBE_KIND_H

#include "capture/session.h"

struct probe_kind {
	const char *name;
	/* The group's probes, anew, in the target and in what is followed beside it. 0 or a negative errno with
	 * err__set. */
	int (*attach)(struct session *s, enum probe_group group);
	void (*detach)(struct session *s, enum probe_group group);
	/* What a row has added, by what the programs counted of it. */
	double (*cost_ns)(const struct probe_cost *cost, const struct pt_probe_stat *stat);
	/* In this window; decoded: by the records that came. */
	uint64_t (*hits)(const struct session *s, uint64_t decoded);
};

const struct probe_kind *probe_kind__of(enum probe_group group);
/* May steps be told by data breakpoints of this group? False for other kinds. */
bool probe_kind__makes_steps(const struct session *s, int group);

#endif
