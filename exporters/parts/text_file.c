// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/text_file.h"
#include <fcntl.h>
#include <stdarg.h>
#include "common/err.h"
#include "common/message_table.h"
#include "exporters/message_table.h"
#include "common/json_memory.h"
#include "common/out_file.h"
#include "common/text_char.h"
#include "common/util.h"
#include "exporters/parts/gzip.h"

#define BUF_BYTES (GZIP_BLOCK_BYTES + TEXT_ROOM_MAX)
#define NO_FILE	  "the text of a trial"

struct text_file {
	char *buf;
	size_t len;
	struct out_file out;
	int err;
	uint64_t bytes;	   /* bytes written */
	uint64_t passed;   /* bytes of uncompressed text, without those in buf */
	struct gzip *gzip; /* NULL: plain */
	char *path;
	bool shown; /* goes to a terminal, so no text in it may move the cursor */
};

static int write_all(void *ctx, const void *data, size_t len)
{
	struct text_file *f = ctx;
	const char *p = data;

	if (f->out.fd < 0) { /* it has no file */
		f->bytes += len;
		return 0;
	}
	while (len) {
		const ssize_t n = write(f->out.fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
		f->bytes += (uint64_t)n;
	}
	return 0;
}

static int set_error(int err, const char *path)
{
	if (err == -ENOSPC || err == -EDQUOT)
		return err__set(err, MESSAGE_OUTPUT_DISK_FULL, path);
	if (err == -EFBIG)
		return err__set(err, MESSAGE_OUTPUT_FILE_TOO_LARGE, path);
	if (err == -ENOENT)
		return err__set(err, MESSAGE_OUTPUT_DIRECTORY_MISSING, path);
	if (err == -ENOMEM)
		return err__set(err, MESSAGE_OUTPUT_OUT_OF_MEMORY, path);
	if (err == -ENOTTY)
		return err__set(err, MESSAGE_GZIP_TO_TERMINAL);
	if (out_file__explain(err))
		return err__set(err, MESSAGE_NOT_WRITTEN, path, out_file__explain(err));
	return err__set(err, MESSAGE_FILE_NOT_WRITTEN, path, strerror(-err));
}

static int open_fd(struct text_file *f, const char *path)
{
	if (!strcmp(path, TEXT_FILE_STDOUT)) {
		f->path = strdup("standard output");
		f->out.fd = f->path ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
		return f->out.fd < 0 ? -errno : 0;
	}
	f->path = strdup(path);
	return f->path ? out_file__open(&f->out, path, OUT_WHOLE) : -ENOMEM;
}

int text_file__open(const char *path, int gzip_level, struct text_file **out)
{
	struct text_file *f = calloc(1, sizeof(*f));
	int err = 0;

	if (!f)
		return -ENOMEM;
	f->out = OUT_FILE_NONE;
	f->buf = malloc(BUF_BYTES + 1);
	if (!f->buf)
		err = -ENOMEM;
	if (!err && path)
		err = open_fd(f, path);
	f->shown = !err && f->out.fd >= 0 && isatty(f->out.fd);
	if (f->shown && gzip_level > 0)
		err = -ENOTTY;
	if (!err && gzip_level > 0)
		err = gzip__open(gzip_level, write_all, f, &f->gzip);
	if (err) {
		set_error(err, path ? path : NO_FILE);
		text_file__abandon(f);
		return err;
	}
	*out = f;
	return 0;
}

static void flush(struct text_file *f)
{
	if (!f->err && f->len)
		f->err = f->gzip ? gzip__write(f->gzip, f->buf, f->len)
				 : write_all(f, f->buf,
					     f->shown ? text__clean(f->buf, f->len) : f->len);
	f->passed += f->len;
	f->len = 0;
}

bool text_file__is_shown(const struct text_file *f)
{
	return f->shown;
}

int text_file__error(const struct text_file *f)
{
	return f->err;
}

uint64_t text_file__taken(const struct text_file *f)
{
	return f->passed + f->len;
}

char *text_file__room(struct text_file *f, size_t len)
{
	if (f->len + len > BUF_BYTES)
		flush(f);
	return f->buf + f->len;
}

void text_file__take(struct text_file *f, const char *end)
{
	f->len = (size_t)(end - f->buf);
	if (f->len >= GZIP_BLOCK_BYTES)
		flush(f);
}

void text_file__put(struct text_file *f, const char *text, size_t len)
{
	while (len) {
		const size_t part = len < TEXT_ROOM_MAX ? len : TEXT_ROOM_MAX;

		text_file__take(f, text__str(text_file__room(f, part), text, part));
		text += part;
		len -= part;
	}
}

void text_file__put_on_line(void *f, const char *text, size_t len)
{
	for (; len--; text++)
		text_file__put(f, (unsigned char)*text < ' ' ? " " : text, 1);
}

void text_file__print(struct text_file *f, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		text = NULL;
		if (!f->err)
			f->err = -ENOMEM;
		return;
	}
	text_file__put(f, text, (size_t)len);
}

static void release(struct text_file *f)
{
	gzip__close(f->gzip);
	out_file__close(&f->out);
	free(f->buf);
	free(f->path);
	free(f);
}

int text_file__finish(struct text_file *f, uint64_t *bytes)
{
	int err;

	flush(f);
	err = f->err;
	if (!err && json_memory__lacked())
		err = -ENOMEM;
	if (!err && f->gzip)
		err = gzip__finish(f->gzip);
	if (!err && f->out.fd >= 0)
		err = out_file__publish(&f->out);
	*bytes = f->bytes;
	if (err) {
		set_error(err, f->path ? f->path : NO_FILE);
		text_file__abandon(f);
		return err;
	}
	release(f);
	return 0;
}

void text_file__abandon(struct text_file *f)
{
	if (!f)
		return;
	release(f);
}

int text_file__end(struct text_file *f, int err, uint64_t *bytes)
{
	if (err && (!f || !f->err)) {
		text_file__abandon(f);
		return err;
	}
	return text_file__finish(f, bytes);
}
