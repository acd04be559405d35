// SPDX-License-Identifier: BSD-2-Clause
#include "capture/processes/follow.h"
#include "capture/session.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

/* ---- which children ---- */

static bool same_executable(const struct session *s, pid_t pid)
{
	char path[64], own[4096], child[4096];
	ssize_t a, b;

	snprintf(path, sizeof(path), "/proc/%d/exe", s->target->pid);
	a = readlink(path, own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	b = readlink(path, child, sizeof(child));
	return a > 0 && a == b && !memcmp(own, child, (size_t)a);
}

static bool is_followed(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->children.cnt; i++)
		if (s->children.pids[i] == pid)
			return true;
	return false;
}

static int add(struct session *s, pid_t pid)
{
	int err;

	if (s->children.cnt + 1 >= PT_MAX_TARGETS) /* the target counts, too */
		return 0;
	err = helpers__note(&s->children.helpers,
			    pid); /* note the process again: it may have executed another program */
	if (err || is_followed(s, pid))
		return err;
	return ARRAY_PUSH(s->children.pids, s->children.cnt, s->children.cap, pid);
}

static int add_family(void *ctx, pid_t pid)
{
	struct session *s = ctx;
	int err;

	if (!same_executable(s, pid))
		return 0;
	err = add(s, pid);
	if (!err)
		err = probes__add_target(&s->probes, pid);
	return err ? err : proc__each_child(pid, add_family, s);
}

int follow__existing(struct session *s)
{
	return s->opts->no_follow ? 0 : proc__each_child(s->target->pid, add_family, s);
}

/* ---- probes ---- */

int follow__attach(struct session *s, enum probe_group group)
{
	for (size_t i = 0; i < s->children.cnt; i++)
		if (probes__attach_more(&s->probes, group, s->children.pids[i]))
			log__debug("child %d is not followed: %s", s->children.pids[i],
				   err__take(-ESRCH));
	return 0;
}

static void release_gone(struct session *s)
{
	probes__release(&s->probes, s->children.gone, s->children.gone_cnt);
	s->children.gone_cnt = 0;
}

/* A child that only executes another program has done so after this time. Probes would cost 50 ms
 * for nothing. */
#define PATIENCE_NS 10000000
/* Number of ended processes to release together: a release takes about 50 ms, for any number. */
#define GONE_MANY 16

static bool is_newborn(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->children.newborn_cnt; i++)
		if (s->children.newborn[i].pid == pid)
			return true;
	return false;
}

void follow__forked(struct session *s, pid_t pid, uint64_t forked_ns)
{
	if (!s->opts->no_follow && !is_followed(s, pid) && !is_newborn(s, pid))
		(void)ARRAY_PUSH(s->children.newborn, s->children.newborn_cnt,
				 s->children.newborn_cap, ((struct newborn){pid, forked_ns}));
}

static int add_missed(void *ctx, pid_t pid)
{
	struct session *s = ctx;
	int err;

	if (!same_executable(s, pid))
		return 0;
	err = is_followed(s, pid) ? 0 : probes__add_target(&s->probes, pid);
	if (!err)
		follow__forked(s, pid, clock__monotonic_ns());
	return err ? err : proc__each_child(pid, add_missed, s);
}

int follow__missed(struct session *s)
{
	return s->opts->no_follow ? 0 : proc__each_child(s->target->pid, add_missed, s);
}

bool follow__forget(struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->children.newborn_cnt; i++)
		if (s->children.newborn[i].pid == pid) {
			s->children.newborn[i] = s->children.newborn[--s->children.newborn_cnt];
			return true;
		}
	return false;
}

void follow__execed(struct session *s, pid_t pid, uint64_t execed_ns)
{
	follow__forget(s, pid);
	if (same_executable(s, pid))
		follow__forked(s, pid, execed_ns);
}

static void follow(struct session *s, const struct newborn *child)
{
	uint64_t late_ns;
	bool failed = false;

	if (add(s, child->pid))
		return;
	for (size_t i = 0; i < s->children.gone_cnt; i++)
		if (s->children.gone[i] == child->pid) {
			release_gone(s); /* a new process has the same id */
			break;
		}
	for (int g = 0; g < GROUP_CNT; g++)
		if (probes__attach_more(&s->probes, g, child->pid)) {
			failed = true;
			log__debug("forked child %d is not followed: %s", child->pid,
				   err__take(-ESRCH));
		}
	s->children.unfollowed += failed;
	if (failed || !s->window.writer)
		return;
	late_ns = clock__monotonic_ns() - child->forked_ns;
	s->children.followed++;
	if (late_ns > s->children.late_ns)
		s->children.late_ns = late_ns;
}

static int follow_newborn(struct session *s, uint64_t *next_ns)
{
	uint64_t now = clock__monotonic_ns();

	if (s->children.gone_cnt >= GONE_MANY)
		release_gone(s);
	for (size_t i = 0; i < s->children.newborn_cnt;) {
		struct newborn child = s->children.newborn[i];

		if (now < child.forked_ns + PATIENCE_NS) {
			turn_by(next_ns, child.forked_ns + PATIENCE_NS);
			i++;
			continue;
		}
		s->children.newborn[i] = s->children.newborn[--s->children.newborn_cnt];
		follow(s, &child);
	}
	return 0;
}

/* Called in the ring's callback: the probes are released in a later turn. */
void follow__exited(struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->children.cnt; i++) {
		if (s->children.pids[i] != pid)
			continue;
		s->children.pids[i] = s->children.pids[--s->children.cnt];
		(void)ARRAY_PUSH(s->children.gone, s->children.gone_cnt, s->children.gone_cap, pid);
		return;
	}
}

static void window_open(struct session *s)
{
	s->children.followed = s->children.late_ns = s->children.unfollowed = 0;
}

static void describe(struct session *s, json_t *summary)
{
	json_t *helpers = helpers__take(&s->children.helpers);

	if (helpers)
		json_object_set_new(summary, "helpers", helpers);
}

const struct component component_children = {
	.name = "children",
	.poll = follow_newborn,
	.window_open = window_open,
	.describe = describe,
};
