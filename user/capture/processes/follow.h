/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that belong to the target: data-loader workers forked before or after we came. */
#ifndef PROFTRACE_FOLLOW_H
#define PROFTRACE_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "capture/processes/helpers.h"
#include "frameworks/framework.h"

struct session;

struct newborn {
	pid_t pid;
	uint64_t forked_ns;
};

struct children {
	pid_t *pids; /* followed beside the target */
	size_t cnt, cap;
	struct helper_list helpers; /* of them */
	pid_t *gone; /* that have ended, their links still held */
	size_t gone_cnt, gone_cap;
	struct newborn *newborn; /* forked, and not followed yet */
	size_t newborn_cnt, newborn_cap;
	/* Of this window: children that ended before they had probes, those forked in it that have
	 * them, and the longest that one of these ran before. */
	uint64_t unfollowed, followed, late_ns;
};

/* Children (and theirs) that run the target's own executable; nothing is attached to them yet. */
int follow__existing(struct session *s);
/* Those of them that came while the probes of the target went in, which nothing told of. */
int follow__missed(struct session *s);
/* A child was forked: the session's next turns give it the probes that are live, if it is still there and has
 * not become another program. */
void follow__forked(struct session *s, pid_t pid, uint64_t forked_ns);
/* It has become another program: only the target's own, as Python's spawn starts it anew, is
 * followed. */
void follow__execed(struct session *s, pid_t pid, uint64_t execed_ns);
/* It ended; true: before it had probes. */
bool follow__forget(struct session *s, pid_t pid);
void follow__exited(struct session *s, pid_t pid);
/* Attaches a group that just came to the children as well. */
int follow__attach(struct session *s, enum probe_group group);

#endif
