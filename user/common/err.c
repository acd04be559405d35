// SPDX-License-Identifier: BSD-2-Clause
#include "common/err.h"
#include "common/text_char.h"
#include "common/util.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int log_level = 1;

static _Thread_local char message[2048];
static _Thread_local char taken[2048];

int err__set(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	/* Through a second buffer: an argument may be the message itself. */
	vsnprintf(taken, sizeof(taken), fmt, ap);
	va_end(ap);
	memcpy(message, taken, sizeof(message));
	return err;
}

static const char *make_room(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
		return "; free some, or send it to another disk";
	case EFBIG:
		return "; raise the limit (ulimit -f)";
	default:
		return "";
	}
}

int err__unwritten(const char *what)
{
	const int errnum = errno;

	return err__set(-EIO, "cannot write %s: %s%s", what, strerror(errnum), make_room(errnum));
}

const char *err__take(int err)
{
	if (!message[0])
		return strerror(err < 0 ? -err : err);
	memcpy(taken, message, sizeof(taken));
	message[0] = '\0';
	return taken;
}

static _Thread_local const char *line_prefix = "";

void log__set_prefix(const char *prefix)
{
	line_prefix = prefix;
}

void log__put(const char *level, const char *text)
{
	fprintf(stderr, "proftrace: %s%s", line_prefix, level);
	text__put_line(stderr, text); /* names in it may be the target's */
	fputc('\n', stderr);
}

static void log_line(const char *level, const char *fmt, va_list ap)
{
	auto_free char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	log__put(level, text ? text : fmt);
}

#define DEFINE_LOG(name, level, title)                                                             \
	void log__##name(const char *fmt, ...)                                                     \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		if (log_level < (level))                                                           \
			return;                                                                    \
		va_start(ap, fmt);                                                                 \
		log_line(title, fmt, ap);                                                          \
		va_end(ap);                                                                        \
	}

DEFINE_LOG(warn, 0, "warning: ")
DEFINE_LOG(info, 1, "")
DEFINE_LOG(debug, 2, "debug: ")
