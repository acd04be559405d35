// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/rules.h"
#include <ctype.h>
#include <fnmatch.h>
#include <pwd.h>
#include <string.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"

static const char *const kinds[] = {"command:", "user:", "cgroup:", "pid:"}; /* enum rule_kind */

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

static int read_pid(const char *option, const char *text, pid_t *pid)
{
	char *end;
	const long number = strtol(text, &end, 10);

	*pid = (pid_t)number;
	if (isdigit((unsigned char)*text) && !*end && number > 0 && number <= INT32_MAX)
		return 0;
	return err__set(-EINVAL, MESSAGE_RULE_PID_INVALID, option, text, text);
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
	if (rule.kind == RULE_USER)
		err = find_user(option, rule.pattern, &rule.uid);
	if (rule.kind == RULE_PID)
		err = read_pid(option, rule.pattern, &rule.pid);
	return err ? err : ARRAY_PUSH(r->items, r->cnt, r->cap, rule);
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

bool rules__match(const struct rules *r, pid_t pid, const char *command, uid_t uid,
		  const char *cgroup)
{
	for (size_t i = 0; i < r->cnt; i++) {
		const struct rule *rule = &r->items[i];

		if (rule->kind == RULE_USER	 ? rule->uid == uid
		    : rule->kind == RULE_PID	 ? rule->pid == pid
		    : rule->kind == RULE_COMMAND ? !fnmatch(rule->pattern, command, 0)
						 : matches_cgroup(rule->pattern, cgroup))
			return true;
	}
	return false;
}

void rules__free(struct rules *r)
{
	free(r->items);
	*r = (struct rules){0};
}
