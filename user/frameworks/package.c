// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/package.h"
#include "common/util.h"
#include <string.h>

/* What stands between quotes behind `variable =` at the begin of a line. */
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

void package__text(const struct target *t, const struct target_lib *lib, int up, const char *file,
		   const char *variable, char *out, size_t size)
{
	auto_free char *path = NULL, *text = NULL;
	auto_free char *dir = strdup(target__own_path(t, lib->path));
	const char *value;
	size_t len;

	out[0] = '\0';
	for (int i = 0; dir && i < up; i++) {
		char *slash = strrchr(dir, '/');

		if (!slash)
			return;
		*slash = '\0';
	}
	if (!dir || asprintf(&path, "%s/%s", dir, file) < 0)
		return;
	text = target__read_file(t, path, NULL);
	value = text ? assigned(text, variable, &len) : NULL;
	if (value)
		snprintf(out, size, "%.*s", (int)len, value);
}
