/* SPDX-License-Identifier: BSD-2-Clause */
/* The loaded BPF object and the attach sets of one plan. */
#ifndef PROFTRACE_PROBES_H
#define PROFTRACE_PROBES_H

#include "capture/capture.h"

struct proftrace_bpf;
struct watchpoints;

struct probes {
	struct proftrace_bpf *skel;
	struct pt_ctl *ctl; /* mapped, shared with the programs */
	/* By group; and behind these what the library in the target sees, for other processes. */
	struct attach_set *sets[2 * GROUP_CNT];
	/* What was planned while its group was attached. */
	struct added_set {
		enum probe_group group;
		struct attach_set *set;
	} *added;
	size_t added_cnt, added_cap;
	bool attached[GROUP_CNT];
	struct watchpoints *watchpoints; /* of GROUP_WATCH, which has no set */
	bool unwatched;			 /* they cannot be had, as was told */
	bool step_watched; /* an optimizer's step is among them */
	enum attach_method method;
	struct target *target;
	const struct probe_plan *plan;
	const bool *pruned; /* by row, NULL: none; rows left out of the sets */
	const bool *hooked; /* by row, NULL: none; the library in the target sees their calls */
};

const char *probe_group__name(enum probe_group group);

/* Opens, sizes, loads and fills the tables; nothing is attached. */
int probes__load(struct probes *p, struct target *target, const struct capture_opts *opts,
		 const struct probe_plan *plan);
/* The plan has more probes, from number `from` on, of programs that were loaded. */
int probes__plan_grew(struct probes *p, size_t from);
/* Data breakpoints of GROUP_WATCH, anew; what cannot be had is warned of once, and is no error. */
int probes__watch(struct probes *p);
void probes__unwatch(struct probes *p);
/* Of any other group: builds its set anew (after pruned changed) and attaches it to pid; no-op if empty. */
int probes__attach(struct probes *p, enum probe_group group, pid_t pid);
/* Attaches what the plan has from number `from` on, of groups that are attached. */
int probes__attach_added(struct probes *p, size_t from, pid_t pid);
/* A group that is attached to one more process, which must map the same files; else a no-op. */
int probes__attach_more(struct probes *p, enum probe_group group, pid_t pid);
/* Of such a group what the library in the target sees, by probes again. */
int probes__attach_hooked(struct probes *p, enum probe_group group, pid_t pid);
void probes__detach(struct probes *p, enum probe_group group);
/* Processes that have ended are let go of. */
void probes__release(struct probes *p, const pid_t *pids, size_t cnt);
void probes__free(struct probes *p); /* detaches what is attached */

/* Forgets every open span: one that began while its end had no probe yet would never end. */
void probes__forget_spans(struct probes *p);

int probes__add_target(struct probes *p, pid_t pid);
/* Sums a row's statistics over CPUs. */
void probes__stat(const struct probes *p, uint32_t row, struct pt_probe_stat *out);
/* Of every row of the plan: they begin anew. */
void probes__forget_stats(struct probes *p);

#endif
