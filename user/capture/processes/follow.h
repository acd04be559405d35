/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows processes that belong to the target: data-loader workers forked before or after the attach. */
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
	pid_t *pids; /* processes that are followed, without the target */
	size_t cnt, cap;
	struct helper_list helpers; /* helper processes among them */
	pid_t *gone; /* ended processes whose probe links we still hold */
	size_t gone_cnt, gone_cap;
	struct newborn *newborn; /* forked processes that are not followed yet */
	size_t newborn_cnt, newborn_cap;
	/* In this window: children that ended before they had probes, children that got probes, and the longest time
	 * that one of the latter ran without probes. */
	uint64_t unfollowed, followed, late_ns;
};

/* Follows children and their children that run the target's own executable. Attaches nothing yet. */
int follow__existing(struct session *s);
/* Follows children that were forked while the target's probes were attached. No record named them. */
int follow__missed(struct session *s);
/* Call when a child was forked. Later turns attach the live probes, if the child still exists and runs the same
 * program. */
void follow__forked(struct session *s, pid_t pid, uint64_t forked_ns);
/* Call when a process has executed a program. It is followed only if it is the target's own program, as with Python's
 * spawn. */
void follow__execed(struct session *s, pid_t pid, uint64_t execed_ns);
/* Call when a process has ended. Returns true if it ended before it had probes. */
bool follow__forget(struct session *s, pid_t pid);
void follow__exited(struct session *s, pid_t pid);
/* Attaches a group to the followed processes, too. */
int follow__attach(struct session *s, enum probe_group group);

#endif
