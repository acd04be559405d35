// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/output.h"
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include "common/directory.h"
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/util.h"
#include "recording/recording.h"

/* torch_tb_profiler takes a worker's name from HOST_PID[.WINDOW]. */
static int default_name(const struct recording *r, const char *extension, bool gzip, char *name,
			size_t size)
{
	const json_t *meta = recording__meta(r);
	const json_t *process = json_object_get(meta, "process");
	const char *host =
		json_string_value(json_object_get(json_object_get(meta, "host"), "name"));
	const json_int_t pid = json_integer_value(json_object_get(process, "pid"));
	const json_int_t window =
		json_integer_value(json_object_get(json_object_get(meta, "window"), "index"));
	char digits[24] = "", clean[256];
	size_t len = 0;

	for (const char *c = host; c && *c && len < sizeof(clean) - 1; c++)
		clean[len++] = isalnum((unsigned char)*c) || *c == '-' ? *c : '-';
	clean[len] = '\0';
	if (window > 0)
		snprintf(digits, sizeof(digits), ".%lld", (long long)window);
	len = (size_t)snprintf(name, size, "%s_%lld%s%s%s", len ? clean : "host",
			       (long long)(pid > 0 ? pid : 0), digits, extension,
			       gzip ? ".gz" : "");
	return len < size ? 0 : err__set(-ENAMETOOLONG, MESSAGE_DEFAULT_NAME_TOO_LONG);
}

static bool ends_with(const char *s, const char *end)
{
	const size_t len = strlen(s), end_len = strlen(end);

	return len >= end_len && !strcmp(s + len - end_len, end);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return ends_with(path, "/") || (!stat(path, &st) && S_ISDIR(st.st_mode));
}

/* The extension that contradicts the compression: the plain one if compressed, else .gz. */
static const char *wrong_end(const char *extension, int level)
{
	return level ? strrchr(extension, '.') : ".gz";
}

int output__choose(const struct recording *r, const struct export_opts *opts, const char *extension,
		   int gzip_default, int *gzip_level, struct export_result *result)
{
	const char *output = opts->output;
	char name[512];
	int err, len, level = opts->gzip_level < 0 ? gzip_default : opts->gzip_level;

	if (output && !is_directory(output)) {
		if (opts->gzip_level < 0)
			level = !ends_with(output, ".gz") ? 0 : gzip_default ? gzip_default : 1;
		if (ends_with(output, wrong_end(extension, level)))
			return level ? err__set(-EINVAL, MESSAGE_GZIP_NAME_EXPECTED, output, level)
				     : err__set(-EINVAL, MESSAGE_GZIP_NAME_UNEXPECTED, output);
		len = snprintf(result->path, sizeof(result->path), "%s", output);
	} else {
		err = directory__make(output);
		if (!err)
			err = default_name(r, extension, level > 0, name, sizeof(name));
		if (err)
			return err;
		len = snprintf(result->path, sizeof(result->path), "%s%s%s", output ? output : "",
			       output && !ends_with(output, "/") ? "/" : "", name);
	}
	*gzip_level = level;
	if ((size_t)len >= sizeof(result->path))
		return err__set(-ENAMETOOLONG, MESSAGE_OUTPUT_PATH_TOO_LONG, output);
	return 0;
}

int output__no_dialect(const struct export_opts *opts, const char *format)
{
	return opts->dialect ? err__set(-EINVAL, MESSAGE_DIALECT_UNKNOWN, opts->dialect, format)
			     : 0;
}
