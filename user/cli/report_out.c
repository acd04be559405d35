// SPDX-License-Identifier: BSD-2-Clause
#include "cli/report_out.h"
#include "cli/place.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/message_table.h"
#include "common/out_file.h"
#include "common/util.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int report_out__check(const struct report_out *out)
{
	struct stat st;

	if (!out->path)
		return 0;
	if (place__is_directory(out->path))
		return err__set(-EINVAL, MESSAGE_REPORT_FILE_IS_DIRECTORY, out->path);
	/* The path is a pipe, or /dev/stdout. */
	if (!stat(out->path, &st) && !S_ISREG(st.st_mode))
		return 0;
	return place__check(out->path, "report", "--report-file");
}

int report_out__spare(const struct report_out *out, char *const *recordings, size_t cnt)
{
	for (size_t i = 0; out->path && i < cnt; i++)
		if (file__is_same(out->path, recordings[i]))
			return err__set(-EINVAL, MESSAGE_REPORT_FILE_IS_KEPT_RECORDING, out->path,
					recordings[i]);
	return 0;
}

/* Standard error has no buffer, and tables are written in many small pieces. */
static FILE *standard_error(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

static const char *name_of(const struct report_out *out)
{
	return out->path	     ? out->path
	       : out->beside_program ? "the report to standard error"
				     : "the report to standard output";
}

static FILE *named(const char *path)
{
	struct out_file f;
	int err = out_file__open(&f, path, OUT_LIVE), fd;
	FILE *file;

	if (err) {
		errno = -err;
		return NULL;
	}
	fd = fcntl(f.fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file && fd >= 0)
		close(fd);
	out_file__close(&f);
	return file;
}

int report_out__open(struct report_out *out)
{
	const char *why;

	if (!out->file)
		out->file = out->path		  ? named(out->path)
			    : out->beside_program ? standard_error()
						  : stdout;
	if (out->file)
		return 0;
	why = out_file__explain(-errno);
	return why ? err__set(-errno, MESSAGE_NOT_WRITTEN, out->path, why)
		   : err__unwritten(name_of(out));
}

int report_out__flush(struct report_out *out)
{
	/* A reader that closed the pipe (`| head`) is no error here: see cli__finish(). */
	if (!out->file || (!fflush(out->file) && !ferror(out->file)) || out->file == stdout)
		return 0;
	return err__unwritten(name_of(out));
}

void report_out__close(struct report_out *out)
{
	if (out->file && out->file != stdout)
		fclose(out->file);
	out->file = NULL;
}
