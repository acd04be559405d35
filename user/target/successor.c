// SPDX-License-Identifier: BSD-2-Clause
#include "target/successor.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/util.h"
#include "target/rank.h"
#include "target/target_priv.h"

static int rank_of(pid_t pid)
{
	int rank, local_rank, world_size;

	rank__read(pid, &rank, &local_rank, &world_size);
	return rank;
}

static int add_sibling(void *ctx, pid_t pid)
{
	struct successor *s = ctx;

	return ARRAY_PUSH(s->siblings, s->sibling_cnt, s->sibling_cap, pid);
}

void successor__prepare(struct successor *s, pid_t pid)
{
	memset(s, 0, sizeof(*s));
	s->pid = pid;
	s->rank = rank_of(pid);
	s->command = proc__text(pid, "cmdline", &s->command_len);
	s->parent = proc__status(pid, "PPid");
	/* A process that we started ourselves is not restarted by others. */
	if (s->parent == getpid() || proc__each_child(s->parent, add_sibling, s))
		s->parent = 0;
}

void successor__free(struct successor *s)
{
	free(s->command);
	free(s->siblings);
}

struct search {
	const struct successor *of;
	pid_t found;
};

static bool is_alike(const struct successor *s, pid_t pid)
{
	size_t len = 0;
	auto_free char *command = NULL;

	if (s->rank >= 0)
		return rank_of(pid) == s->rank;
	command = proc__text(pid, "cmdline", &len);
	return command && s->command && len && len == s->command_len &&
	       !memcmp(command, s->command, len);
}

static int look_at(void *ctx, pid_t pid)
{
	struct search *search = ctx;
	const struct successor *s = search->of;

	for (size_t i = 0; i < s->sibling_cnt; i++)
		if (s->siblings[i] == pid)
			return 0;
	if (is_alike(s, pid))
		search->found = pid;
	return 0;
}

pid_t successor__find(const struct successor *s)
{
	struct search search = {.of = s};

	if (s->parent)
		proc__each_child(s->parent, look_at, &search);
	return search.found;
}

pid_t successor__launcher(const struct successor *s)
{
	/* Process 1, the parent of orphans, starts no ranks. */
	const bool launches = s->rank >= 0 && s->parent > 1;

	return launches && !access(proc_path(s->parent, "stat").s, F_OK) ? s->parent : 0;
}
