/* SPDX-License-Identifier: BSD-2-Clause */
/* --allow and --deny: which processes the monitor may watch. */
#ifndef PROFTRACE_RULES_H
#define PROFTRACE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rule {
	enum rule_kind { RULE_COMMAND, RULE_USER, RULE_CGROUP, RULE_PID, RULE_KIND_CNT } kind;
	const char *pattern; /* of a command or cgroup */
	uid_t uid;
	pid_t pid;
};

struct rules {
	struct rule *items;
	size_t cnt, cap;
};

/* Adds "command:GLOB", "user:NAME", "cgroup:GLOB" or "pid:NUMBER". option: its name, for messages.
 * 0, or a negative errno with err__set. */
int rules__add(struct rules *r, const char *option, const char *value);
/* Does any rule match? cgroup: text of /proc/PID/cgroup. */
bool rules__match(const struct rules *r, pid_t pid, const char *command, uid_t uid,
		  const char *cgroup);
void rules__free(struct rules *r);

#endif
