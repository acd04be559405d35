// SPDX-License-Identifier: BSD-2-Clause
#include "cli/html_page.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "cli/place.h"
#include "cli/window_path.h"
#include "common/bytes_text.h"
#include "common/directory.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include "page/page.h"

int html_page__write(const struct recording *r, const struct report_opts *opts, const char *path)
{
	uint64_t bytes;
	int err = page__write(r, opts, path, &bytes);

	if (!err && strcmp(path, "-") != 0)
		log__info(MESSAGE_PAGE_WRITTEN, path, bytes_text(bytes).s);
	return err;
}

static bool many_recordings(const struct record_options *o)
{
	return (o->range.set && o->range.schedule.repeat != 1) || o->capture.dump_every_ns;
}

int html_page__check(const struct record_options *o)
{
	if (!o->html)
		return 0;
	if (!strcmp(o->html, "-"))
		return err__set(-EINVAL, MESSAGE_PAGE_TO_STANDARD_OUTPUT);
	if (!place__is_directory(o->html) &&
	    (place__is_same(o->html, o->capture.output) || place__is_same(o->html, o->trace) ||
	     place__is_same(o->html, o->tables.path)))
		return err__set(-EINVAL, MESSAGE_PAGE_IS_OUTPUT, o->html);
	if (many_recordings(o) && !place__is_directory(o->html))
		return err__set(-EINVAL, MESSAGE_PAGE_NO_DIRECTORY, o->html);
	return place__check(o->html, "page", "--html");
}

/* DIRECTORY/HOST_PID[.WINDOW].html for HOST_PID[.WINDOW].ptrec */
static int path_in(const char *directory, const char *recording_path, char *path, size_t size)
{
	const char *base = strrchr(recording_path, '/');
	const char *end;
	int len;

	base = base ? base + 1 : recording_path;
	end = strrchr(base, '.');
	len = snprintf(path, size, "%s%s%.*s.html", directory,
		       directory[strlen(directory) - 1] == '/' ? "" : "/",
		       (int)(end && end > base ? (size_t)(end - base) : strlen(base)), base);
	return (size_t)len < size ? 0
				  : err__set(-ENAMETOOLONG, MESSAGE_PAGE_PATH_TOO_LONG, directory);
}

int html_page__write_live(const struct record_options *o, const struct recording *r,
			  const char *recording_path)
{
	struct report_opts opts = report_args__opts(&o->report, STDOUT_FILENO);
	char path[PATH_MAX];
	const char *place = path;
	int err = 0;

	if (!o->html)
		return 0;
	/* The page has all rows. Only tables on a terminal are short. */
	if (!opts.rows_chosen)
		opts.style.row_limit = 0;
	if (place__is_directory(o->html)) {
		err = directory__make(o->html);
		if (!err)
			err = path_in(o->html, recording_path, path, sizeof(path));
	} else {
		place = window_path__of(r, o->html, path, sizeof(path));
		err = place ? 0 : -ENAMETOOLONG;
	}
	return err ? err : html_page__write(r, &opts, place);
}
