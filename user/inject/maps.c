// SPDX-License-Identifier: BSD-2-Clause
#include "inject/maps.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "inject/message_table.h"
#include "common/util.h"

#define MAX_RANGES 1000000

static int parse_range(char *line, struct map_range *r)
{
	static const char deleted[] = " (deleted)";
	size_t len;
	char perms[5];
	int path_at = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %*x:%*x %*u %n", &r->start, &r->end, perms, &r->offset,
		   &path_at) < 4 ||
	    !path_at || r->end <= r->start)
		return -EINVAL;
	r->writable = perms[1] == 'w';
	r->executable = perms[2] == 'x';
	r->shared = perms[3] == 's';
	r->path = strdup(line + path_at);
	if (!r->path)
		return -ENOMEM;
	len = strlen(r->path);
	if (len >= sizeof(deleted) && strcmp(r->path + len - sizeof(deleted) + 1, deleted) == 0)
		r->path[len - sizeof(deleted) + 1] = '\0';
	return 0;
}

int maps__parse(char *text, struct maps *out)
{
	char *rest = NULL;
	size_t cap = 0;

	*out = (struct maps){0};
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct map_range r;
		int err = parse_range(line, &r);

		if (err == -EINVAL || (!err && out->cnt == MAX_RANGES)) {
			if (!err)
				free(r.path);
			continue;
		}
		if (!err)
			err = ARRAY_PUSH(out->ranges, out->cnt, cap, r);
		if (err) {
			maps__free(out);
			return err;
		}
	}
	return 0;
}

int maps__read(pid_t pid, struct maps *out)
{
	auto_free char *text = NULL;
	char path[32];
	int err;

	*out = (struct maps){0};
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	text = file__read(path, NULL);
	if (!text)
		return err__set(-errno, MESSAGE_INJECT_MAPS_UNREADABLE, pid, strerror(errno));
	err = maps__parse(text, out);
	return err ? err__set(err, MESSAGE_INJECT_MAPS_OUT_OF_MEMORY, pid) : 0;
}

void maps__free(struct maps *m)
{
	for (size_t i = 0; i < m->cnt; i++)
		free(m->ranges[i].path);
	free(m->ranges);
	*m = (struct maps){0};
}

const struct map_range *maps__at(const struct maps *m, uint64_t addr)
{
	size_t below = COUNT_FIRST(m->cnt, i, m->ranges[i].end <= addr);

	return below < m->cnt && m->ranges[below].start <= addr ? &m->ranges[below] : NULL;
}

const char *maps__basename(const struct map_range *r)
{
	const char *slash = strrchr(r->path, '/');

	return slash ? slash + 1 : r->path;
}

uint64_t maps__gap(const struct maps *m, size_t size)
{
	/* The kernel maps from the top of a gap downwards, and stacks grow into their gap. The
	 * middle of a wide gap stays free. */
	const uint64_t room = 1ull << 30;

	for (size_t i = m->cnt; i-- > 1;) {
		uint64_t low = m->ranges[i - 1].end, high = m->ranges[i].start;

		if (high >= 1ull << 47 || high - low < room)
			continue;
		return (low + (high - low) / 2 - size) & ~4095ull;
	}
	return 0;
}
