// SPDX-License-Identifier: BSD-2-Clause
#include "cli/window_path.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "cli/place.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"

static bool is_special(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || place__is_directory(path) ||
	       (!stat(path, &st) && !S_ISREG(st.st_mode));
}

/* Length of name before its extension. TensorBoard looks for .pt.trace.json, so that counts as one
 * extension. */
static size_t stem_len(const char *name)
{
	static const char *const ends[] = {".gz", ".json", ".trace", ".pt"};
	const char *dot = strrchr(name, '.');
	size_t len = strlen(name);

	if (!dot)
		return len;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end_len = strlen(ends[i]);

		if (len > end_len && !strncmp(name + len - end_len, ends[i], end_len))
			len -= end_len;
	}
	return len < strlen(name) || dot == name ? len : (size_t)(dot - name);
}

const char *window_path__of(const struct recording *r, const char *path, char *out, size_t size)
{
	const json_t *window = json_object_get(recording__meta(r), "window");
	const json_int_t index = json_integer_value(json_object_get(window, "index"));
	const char *slash, *name;
	size_t stem, len;

	if (!path || index <= 0 || is_special(path))
		return path;
	slash = strrchr(path, '/');
	name = slash ? slash + 1 : path;
	stem = (size_t)(name - path) + stem_len(name);
	len = (size_t)snprintf(out, size, "%.*s.%lld%s", (int)stem, path, (long long)index,
			       path + stem);
	if (len < size)
		return out;
	err__set(-ENAMETOOLONG, MESSAGE_WINDOW_PATH_TOO_LONG, path);
	return NULL;
}
