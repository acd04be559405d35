// SPDX-License-Identifier: BSD-2-Clause
#include "cli/cli.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "privilege/memory_limit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cli__fail(int err)
{
	if (err == HELP_WANTED)
		return STATUS_HELP;
	fflush(stdout);
	log__error(err);
	if (err == -ENOMEM && memory_limit__bytes())
		log__warn(MESSAGE_MEMORY_LIMIT_REACHED, memory_limit__bytes() >> 20);
	return err == -EINVAL ? 2 : 1;
}

int cli__finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	/* A reader of a pipe may have seen enough and closed it. */
	if (status || errno == EPIPE)
		return status;
	return cli__fail(err__unwritten("to standard output"));
}

/* A pipe has no width, so COLUMNS counts. */
static int environment_width(void)
{
	const char *columns = getenv("COLUMNS");
	char *end;
	long width;

	if (!columns || !*columns)
		return 0;
	width = strtol(columns, &end, 10);
	if (*end || width < 1 || width > WIDTH_MAX)
		return 0;
	return width < WIDTH_MIN ? WIDTH_MIN : (int)width;
}

int cli__width(int fd)
{
	struct winsize ws;

	if (!isatty(fd))
		return environment_width();
	if (ioctl(fd, TIOCGWINSZ, &ws) || !ws.ws_col)
		return 80;
	return ws.ws_col;
}

bool cli__colours(int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	/* https://no-color.org: any non-empty value. */
	if (no_color && *no_color)
		return false;
	if (!term || strcmp(term, "dumb") == 0)
		return false;
	return isatty(fd);
}
