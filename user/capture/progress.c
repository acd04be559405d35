// SPDX-License-Identifier: BSD-2-Clause
/* The progress line and warnings on the terminal while a session runs. */
#include "capture/session.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/text_char.h"
#include "common/util.h"
#include <stdarg.h>

#define MS 1000000ull

void session__progress(struct session *s, const char *fmt, ...)
{
	uint64_t now = clock__monotonic_ns();
	auto_free char *text = NULL;
	va_list ap;

	if (!s->opts->progress || now - s->turn.progress_ns < 200 * MS)
		return;
	s->turn.progress_ns = now;
	fputs("\r\033[Kproftrace: ", stderr);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	text__put_line(stderr, text ? text : fmt);
	fflush(stderr);
}

void session__progress_end(struct session *s)
{
	if (s->opts->progress && s->turn.progress_ns)
		fputs("\r\033[K", stderr);
	s->turn.progress_ns = 0;
}

void session__warn_stopped(struct session *s)
{
	const pid_t pid = s->opts->pid, tracer = proc__status(pid, "TracerPid");

	session__progress_end(s);
	if (tracer > 0)
		log__warn(MESSAGE_TARGET_HELD_BY_TRACER, pid, tracer);
	else
		log__warn(MESSAGE_TARGET_STOPPED, pid, pid);
}
