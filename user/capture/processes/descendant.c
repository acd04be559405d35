// SPDX-License-Identifier: BSD-2-Clause
#include "capture/processes/descendant.h"
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include "frameworks/framework.h"
#include "target/target.h"

#define PROCESSES_MAX 256 /* most processes to look at */

struct tree {
	pid_t pids[PROCESSES_MAX]; /* each parent before its children */
	size_t cnt;
};

static int add(void *ctx, pid_t pid)
{
	struct tree *t = ctx;

	if (t->cnt < PROCESSES_MAX)
		t->pids[t->cnt++] = pid;
	return 0;
}

static void describe(const struct target *t, struct descendant *out)
{
	size_t len = 0;

	out->pid = t->pid;
	out->is_rank = t->rank >= 0;
	snprintf(out->command, sizeof(out->command), "%s", t->comm);
	for (char **arg = t->argv; arg && *arg && len < sizeof(out->command); arg++)
		len += (size_t)snprintf(out->command + len, sizeof(out->command) - len, "%s%s",
					len ? " " : "", *arg);
}

static bool has_framework(pid_t pid, struct descendant *out)
{
	struct framework_match match = {0};
	struct target *t;
	bool found;

	if (target__open(pid, &t))
		return false;
	found = !frameworks__recognise(t, NULL, &match) && match.framework;
	if (found) {
		out->framework = match.framework->title;
		describe(t, out);
	}
	target__close(t);
	return found;
}

bool descendant__has_framework(pid_t pid)
{
	struct descendant unused;

	return has_framework(pid, &unused);
}

bool descendant__find(pid_t pid, struct descendant *out)
{
	struct tree t = {.pids = {pid}, .cnt = 1};
	bool found = false;

	for (size_t i = 0; i < t.cnt && !found; i++) {
		found = i && has_framework(t.pids[i], out);
		if (!found)
			proc__each_child(t.pids[i], add, &t);
	}
	return found;
}

#define MORE_MAX 3

/* Names further descendants with a framework and another command: an engine leaves the work to its
 * workers. A descendant with the same command ends the search: it was forked to load data. */
static void describe_more(const struct descendant *first)
{
	struct descendant ancestor = *first, next;

	for (int i = 0; i < MORE_MAX && descendant__find(ancestor.pid, &next);
	     ancestor = next, i++) {
		if (!strcmp(ancestor.command, next.command))
			return;
		log__warn(MESSAGE_DESCENDANT_HAS_FRAMEWORK_TOO, next.pid, next.command,
			  ancestor.pid, next.framework);
	}
}

bool descendant__describe(pid_t pid)
{
	struct descendant b;

	if (!descendant__find(pid, &b))
		return false;
	if (b.is_rank)
		log__warn(MESSAGE_DESCENDANT_RANK_HAS_FRAMEWORK, b.pid, b.command, pid, b.framework,
			  b.pid, pid);
	else
		log__warn(MESSAGE_DESCENDANT_HAS_FRAMEWORK, b.pid, b.command, pid, b.framework,
			  b.pid);
	describe_more(&b);
	return true;
}

size_t descendant__threads(pid_t pid)
{
	struct tree t = {.pids = {pid}, .cnt = 1};
	size_t threads = 0;

	for (size_t i = 0; i < t.cnt; i++) {
		threads += (size_t)proc__status(t.pids[i], "Threads");
		proc__each_child(t.pids[i], add, &t);
	}
	return threads;
}
