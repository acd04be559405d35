// SPDX-License-Identifier: BSD-2-Clause
#include "common/err.h"
#include "common/json_out.h"
#include "common/message_table.h"
#include "common/text_char.h"
#include "common/util.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int log_level = 1;

static bool is_json;
/* The process that messages are about; 0: none is named. */
static _Thread_local pid_t about_pid;
static _Thread_local int about_rank;

static _Thread_local struct err_message message; /* the remembered message */
static _Thread_local struct err_message taken;	 /* the latest taken message: a cause of messages
						    that contain its text */

/* ---- messages ---- */

static void forget(struct err_message *m)
{
	json_decref(m->arguments);
	json_decref(m->causes);
	m->arguments = m->causes = NULL;
	m->key = NULL;
	m->text[0] = '\0';
}

/* Adds the message's key, arguments and causes to a JSON object. */
static int describe(json_t *object, const struct err_message *m)
{
	int err = json_object_set_new(object, "key", m->key ? json_string(m->key) : json_null());

	if (m->arguments)
		err |= json_object_set(object, "arguments", m->arguments);
	if (m->causes)
		err |= json_object_set(object, "causes", m->causes);
	return err;
}

static json_t *cause(const struct err_message *m)
{
	json_t *object = json_object();

	if (object && describe(object, m)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

/* If memory is short, the message has just its key and text. */
static void find_causes(struct err_message *m)
{
	const json_t *arg;
	size_t i;

	json_array_foreach(m->arguments, i, arg)
	{
		if (!json_is_string(arg) || strcmp(json_string_value(arg), taken.text) != 0)
			continue;
		m->causes = json_array();
		json_array_append_new(m->causes, cause(&taken));
		return;
	}
}

/* Makes all of a message but its text. */
static struct err_message make_message(const char *key, const char *fmt, va_list args)
{
	struct err_message m = {.key = key};

	if (is_json)
		m.arguments = message__arguments(fmt, args);
	if (taken.key)
		find_causes(&m);
	return m;
}

int err__set(int err, const char *key, const char *fmt, ...)
{
	struct err_message next;
	va_list args;

	va_start(args, fmt);
	next = make_message(key, fmt, args);
	/* Formats beside `message`, because an argument may be its text. */
	vsnprintf(next.text, sizeof(next.text), fmt, args);
	va_end(args);
	forget(&message);
	message = next;
	return err;
}

const char *err__take(int err)
{
	if (!message.key)
		err__set(err, MESSAGE_SYSTEM_ERROR, strerror(err < 0 ? -err : err));
	forget(&taken);
	err__give(&taken);
	return taken.text;
}

const char *err__key(void)
{
	return message.key;
}

int err__set_again(int err, const char *text)
{
	if (!taken.key || strcmp(taken.text, text) != 0)
		return err__set(err, MESSAGE_PASSED_ON, text);
	forget(&message);
	message = taken;
	taken = (struct err_message){0};
	return err;
}

void err__give(struct err_message *m)
{
	*m = message;
	message = (struct err_message){0};
}

void err__receive(struct err_message *m)
{
	forget(&message);
	message = *m;
	*m = (struct err_message){0};
}

int err__unwritten(const char *what)
{
	const int errnum = errno;

	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
		return err__set(-EIO, MESSAGE_STREAM_LACKS_SPACE, what, strerror(errnum));
	case EFBIG:
		return err__set(-EIO, MESSAGE_STREAM_TOO_LARGE, what, strerror(errnum));
	default:
		return err__set(-EIO, MESSAGE_STREAM_NOT_WRITTEN, what, strerror(errnum));
	}
}

/* ---- lines on stderr ---- */

static const struct level {
	const char *name;
	const char *title; /* before the text */
} error = {"error", ""}, warning = {"warning", "warning: "}, info = {"info", ""},
  debug = {"debug", "debug: "};

void log__set_process(pid_t pid, int rank)
{
	about_pid = pid;
	about_rank = rank;
}

void log__set_json(bool json)
{
	is_json = json;
}

bool log__is_json(void)
{
	return is_json;
}

static int describe_line(json_t *object, const struct level *level, const struct err_message *m,
			 const char *text)
{
	int err = json_object_set_new(object, "level", json_string(level->name));

	if (about_pid)
		err |= json_object_set_new(object, "process", json_integer(about_pid));
	if (about_pid && about_rank >= 0)
		err |= json_object_set_new(object, "rank", json_integer(about_rank));
	err |= describe(object, m);
	err |= json_object_set_new(object, "text", message__string(text, -1));
	return err;
}

static void put_json(const struct level *level, const struct err_message *m, const char *text)
{
	auto_free char *line = NULL;
	json_t *object = json_object();

	if (object && !describe_line(object, level, m, text))
		line = json_dumps(object, json_out__flags(stderr));
	json_decref(object);
	if (line)
		fprintf(stderr, "%s\n", line);
	else
		fprintf(stderr, "{\"level\": \"%s\", \"key\": \"%s\"}\n", level->name,
			m->key ? m->key : "");
}

static void put_text(const struct level *level, const char *text)
{
	fputs("proftrace: ", stderr);
	if (about_pid && about_rank >= 0)
		fprintf(stderr, "rank %d (%d): ", about_rank, about_pid);
	else if (about_pid)
		fprintf(stderr, "%d: ", about_pid);
	fputs(level->title, stderr);
	text__put_line(stderr, text); /* the text may contain names of the target */
	fputc('\n', stderr);
}

static void put(const struct level *level, const struct err_message *m, const char *text)
{
	if (is_json)
		put_json(level, m, text);
	else
		put_text(level, text);
}

static void put_formatted(const struct level *level, const char *key, const char *fmt, va_list args)
{
	struct err_message m = make_message(key, fmt, args);
	auto_free char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	put(level, &m, text ? text : fmt);
	forget(&m);
}

void log__error(int err)
{
	err__take(err);
	put(&error, &taken, taken.text);
}

void log__warn(const char *key, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_formatted(&warning, key, fmt, args);
	va_end(args);
}

void log__info(const char *key, const char *fmt, ...)
{
	va_list args;

	if (log_level < 1)
		return;
	va_start(args, fmt);
	put_formatted(&info, key, fmt, args);
	va_end(args);
}

void log__debug(const char *fmt, ...)
{
	va_list args;

	if (log_level < 2)
		return;
	va_start(args, fmt);
	put_formatted(&debug, NULL, fmt, args);
	va_end(args);
}
