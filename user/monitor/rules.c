// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/rules.h"
#include <ctype.h>
#include <fnmatch.h>
#include <pwd.h>
#include <string.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "monitor/process_facts.h"
#include "common/util.h"

#define COMMAND_MAX 15 /* bytes of a process's name in the kernel */

static const char *const kinds[] = {
	"command:", "program:", "user:", "cgroup:", "pid:", "job:"}; /* enum rule_kind */

static int find_user(const char *option, const char *name, uid_t *uid)
{
	const struct passwd *found;
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	if (isdigit((unsigned char)*name) && !*end && number < UINT32_MAX) {
		*uid = (uid_t)number;
		return 0;
	}
	found = getpwnam(name);
	if (!found)
		return err__set(-EINVAL, MESSAGE_RULE_USER_UNKNOWN, option, name);
	*uid = found->pw_uid;
	return 0;
}

static int read_pid(const char *option, enum rule_kind kind, const char *text, pid_t *pid)
{
	char *end;
	const long number = strtol(text, &end, 10);

	*pid = (pid_t)number;
	if (isdigit((unsigned char)*text) && !*end && number > 0 && number <= INT32_MAX)
		return 0;
	return err__set(-EINVAL, MESSAGE_RULE_PID_INVALID, option, kinds[kind], text, text);
}

/* Identifies the launcher. */
static int find_launcher(const char *option, size_t before, struct rule *rule)
{
	struct process_facts facts;

	if (before == RULES_JOBS)
		return err__set(-E2BIG, MESSAGE_RULE_JOBS_TOO_MANY, option, RULES_JOBS);
	if (process_facts__read(rule->pid, &facts))
		return err__set(-ESRCH, MESSAGE_RULE_JOB_MISSING, option, rule->pid);
	rule->start_ticks = facts.start_ticks;
	rule->job = 1ull << before;
	return 0;
}

/* Without wildcards it would never match. */
static bool is_too_long(const char *pattern)
{
	return strlen(pattern) > COMMAND_MAX && !strpbrk(pattern, "*?[\\");
}

int rules__add(struct rules *r, const char *option, const char *value)
{
	struct rule rule = {0};
	int err = 0;

	while (rule.kind < RULE_KIND_CNT &&
	       strncmp(value, kinds[rule.kind], strlen(kinds[rule.kind])) != 0)
		rule.kind++;
	if (rule.kind < RULE_KIND_CNT)
		rule.pattern = value + strlen(kinds[rule.kind]);
	if (!rule.pattern || !*rule.pattern)
		return err__set(-EINVAL, MESSAGE_RULE_INVALID, option, value, option);
	if (rule.kind == RULE_COMMAND && is_too_long(rule.pattern))
		return err__set(-EINVAL, MESSAGE_RULE_COMMAND_LONG, option, value, COMMAND_MAX,
				rule.pattern);
	if (rule.kind == RULE_USER)
		err = find_user(option, rule.pattern, &rule.uid);
	if (rule.kind == RULE_PID || rule.kind == RULE_JOB)
		err = read_pid(option, rule.kind, rule.pattern, &rule.pid);
	if (!err && rule.kind == RULE_JOB)
		err = find_launcher(option, r->job_cnt, &rule);
	if (!err)
		err = ARRAY_PUSH(r->items, r->cnt, r->cap, rule);
	r->job_cnt += !err && rule.kind == RULE_JOB;
	return err;
}

/* Lines are "ID:CONTROLLERS:PATH". One matching path is enough. */
static bool matches_cgroup(const char *pattern, const char *cgroup)
{
	while (*cgroup) {
		const size_t len = strcspn(cgroup, "\n");
		auto_free char *line = strndup(cgroup, len);
		const char *path = line ? strchr(line, '/') : NULL;

		if (path && !fnmatch(pattern, path, 0))
			return true;
		cgroup += len + (cgroup[len] == '\n');
	}
	return false;
}

static bool matches(const struct rule *rule, const struct rule_subject *s)
{
	switch (rule->kind) {
	case RULE_USER:
		return rule->uid == s->uid;
	case RULE_PID:
		return rule->pid == s->pid;
	case RULE_JOB:
		return rule->job & s->jobs;
	case RULE_PROGRAM:
		return !fnmatch(rule->pattern, s->program, 0);
	case RULE_COMMAND:
		return !fnmatch(rule->pattern, s->command, 0);
	default:
		return matches_cgroup(rule->pattern, s->cgroup);
	}
}

bool rules__match(const struct rules *r, const struct rule_subject *s)
{
	for (size_t i = 0; i < r->cnt; i++)
		if (matches(&r->items[i], s))
			return true;
	return false;
}

uint64_t rules__jobs_of(const struct rules *r, pid_t pid, uint64_t start_ticks)
{
	uint64_t jobs = 0;

	for (size_t i = 0; i < r->cnt; i++)
		if (r->items[i].pid == pid && r->items[i].start_ticks == start_ticks)
			jobs |= r->items[i].job;
	return jobs;
}

void rules__free(struct rules *r)
{
	free(r->items);
	*r = (struct rules){0};
}
