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
	/* By group. The second half has the probes of calls that pointer hooks see in the target, for other
	 * processes. */
	struct attach_set *sets[2 * GROUP_CNT];
	/* Probes that were planned after their group was attached. */
	struct added_set {
		enum probe_group group;
		struct attach_set *set;
	} *added;
	size_t added_cnt, added_cap;
	bool attached[GROUP_CNT];
	struct watchpoints *watchpoints; /* the watchpoints of GROUP_WATCH, which has no attach set */
	bool unwatched;			 /* the watchpoints are impossible here, and the user was warned */
	bool step_watched; /* one of the watchpoints is an optimizer's step */
	enum attach_method method;
	struct target *target;
	const struct probe_plan *plan;
	const bool *pruned; /* by row, NULL: none; pruned rows are left out of the sets */
	const bool *hooked; /* by row, NULL: none; pointer hooks see the calls of these rows */
};

const char *probe_group__name(enum probe_group group);

/* Opens, sizes and loads the BPF object and fills its tables. Attaches nothing. */
int probes__load(struct probes *p, struct target *target, const struct capture_opts *opts,
		 const struct probe_plan *plan);
/* Tells the loaded programs about the plan's new probes, from number `from` on. */
int probes__plan_grew(struct probes *p, size_t from);
/* Sets the data breakpoints of GROUP_WATCH anew. If that fails, prints a warning once and returns 0. */
int probes__watch(struct probes *p);
void probes__unwatch(struct probes *p);
/* For any other group: builds its set anew (after `pruned` changed) and attaches it to pid. Does nothing if the set is
 * empty. */
int probes__attach(struct probes *p, enum probe_group group, pid_t pid);
/* Attaches the plan's probes from number `from` on, if their group is attached. */
int probes__attach_added(struct probes *p, size_t from, pid_t pid);
/* If the group is attached, attaches it to one more process, which must map the same files. */
int probes__attach_more(struct probes *p, enum probe_group group, pid_t pid);
/* Attaches the probes of the group's hooked rows to pid. */
int probes__attach_hooked(struct probes *p, enum probe_group group, pid_t pid);
void probes__detach(struct probes *p, enum probe_group group);
/* Lets go of processes that have ended. */
void probes__release(struct probes *p, const pid_t *pids, size_t cnt);
void probes__free(struct probes *p); /* detaches all probes */

/* Forgets all open spans. A span that began before its end had a probe would never end. */
void probes__forget_spans(struct probes *p);

int probes__add_target(struct probes *p, pid_t pid);
/* Sums a row's statistics over CPUs. */
void probes__stat(const struct probes *p, uint32_t row, struct pt_probe_stat *out);
/* Sets the statistics of all rows to zero. */
void probes__forget_stats(struct probes *p);

#endif
