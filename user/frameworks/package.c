// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/package.h"
#include "common/util.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define SLACK_NS 50000000 /* the kernel gives a process's start in ticks */

/* The text in quotes after `variable =` at the begin of a line. */
static const char *assigned(const char *text, const char *variable, size_t *len)
{
	size_t name_len = strlen(variable);

	for (const char *at = text; (at = strstr(at, variable)); at += name_len) {
		const char *p = at + name_len + strspn(at + name_len, " \t");

		if ((at != text && at[-1] != '\n') || *p++ != '=')
			continue;
		p += strspn(p, " \t");
		if (*p != '\'' && *p != '"')
			continue;
		*len = strcspn(p + 1, "'\"\n");
		return p + 1;
	}
	return NULL;
}

static uint64_t time_ns(const struct statx_timestamp *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static uint64_t started_ns(const struct target *t)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	const uint64_t age_ns = clock__ns(CLOCK_BOOTTIME) - t->start_time * tick_ns;

	return clock__ns(CLOCK_REALTIME) - age_ns;
}

/* Uses the modification time. The time of the last status change does not fit, because a package
 * cache may add a link. */
static bool is_newer(const struct target *t, const char *path)
{
	auto_close int fd = target__open_file(t, path);
	struct statx st;
	uint64_t begin_ns, newest_ns;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MTIME | STATX_BTIME, &st))
		return false;
	begin_ns = started_ns(t) + SLACK_NS;
	newest_ns = time_ns(&st.stx_mtime);
	if (st.stx_mask & STATX_BTIME && time_ns(&st.stx_btime) > newest_ns)
		newest_ns = time_ns(&st.stx_btime);
	return newest_ns > begin_ns;
}

static const char *read_text(const struct target *t, const char *path, const char *variable,
			     char *out, size_t size)
{
	auto_free char *text = target__read_file(t, path, NULL);
	size_t len;
	const char *value = text ? assigned(text, variable, &len) : NULL;

	if (!value)
		return text ? "its file does not name it" : "no file with it is beside it";
	if (is_newer(t, path))
		return "its files were replaced after the process started";
	snprintf(out, size, "%.*s", (int)len, value);
	return NULL;
}

const char *package__text(const struct target *t, const struct target_lib *lib, int up,
			  const char *file, const char *variable, char *out, size_t size)
{
	auto_free char *path = NULL;
	auto_free char *dir = strdup(target__own_path(t, lib->path));

	out[0] = '\0';
	if (lib->deleted)
		return "its files were replaced after the process started";
	for (int i = 0; dir && i < up; i++) {
		char *slash = strrchr(dir, '/');

		if (!slash)
			return "it is not in a package";
		*slash = '\0';
	}
	if (!dir || asprintf(&path, "%s/%s", dir, file) < 0) {
		path = NULL;
		return "out of memory";
	}
	return read_text(t, path, variable, out, size);
}
