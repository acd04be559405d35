// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/text_file.h"
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include "common/err.h"
#include "common/util.h"
#include "exporters/parts/gzip.h"

#define BUF_BYTES (GZIP_BLOCK_BYTES + TEXT_ROOM_MAX)

struct text_file {
	char *buf;
	size_t len;
	int fd;
	int err;
	uint64_t bytes;	   /* written */
	uint64_t passed;   /* of the text, before it is compressed; without what is in buf */
	struct gzip *gzip; /* NULL: plain */
	char *path, *temp; /* temp NULL: written directly */
};

static int write_all(void *ctx, const void *data, size_t len)
{
	struct text_file *f = ctx;
	const char *p = data;

	while (len) {
		const ssize_t n = write(f->fd, p, len);

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
		return err__set(err,
				"%s: no space left on its disk; nothing was kept, free some "
				"or give another path",
				path);
	if (err == -EFBIG)
		return err__set(err,
				"%s: larger than a file may be here; nothing was kept, raise the "
				"limit (ulimit -f)",
				path);
	if (err == -ENOENT)
		return err__set(err,
				"%s: its directory does not exist; create it, as `mkdir "
				"-p` does, or give another path",
				path);
	return err__set(err, "cannot write %s: %s; give another path", path, strerror(-err));
}

static int open_fd(struct text_file *f, const char *path)
{
	struct stat st;
	bool exists;

	if (!strcmp(path, TEXT_FILE_STDOUT)) {
		f->path = strdup("standard output");
		f->fd = f->path ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
		return f->fd < 0 ? -errno : 0;
	}
	f->path = strdup(path);
	if (!f->path)
		return -ENOMEM;
	/* Only a file of its own is replaced as a whole: what a link leads to, or a pipe, is
	 * somebody's else. */
	exists = !lstat(path, &st);
	if (exists && !S_ISREG(st.st_mode)) {
		f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		return f->fd < 0 ? -errno : 0;
	}
	if (asprintf(&f->temp, "%s.%d.tmp", path, (int)getpid()) < 0) {
		f->temp = NULL;
		return -ENOMEM;
	}
	f->fd = open(f->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (f->fd < 0) {
		free(f->temp);
		f->temp = NULL;
		return -errno;
	}
	if (exists && fchmod(f->fd, st.st_mode & 07777))
		log__debug("%s: cannot keep its mode: %s", path, strerror(errno));
	return 0;
}

int text_file__open(const char *path, int gzip_level, struct text_file **out)
{
	struct text_file *f = calloc(1, sizeof(*f));
	int err = 0;

	if (!f)
		return -ENOMEM;
	f->fd = -1;
	f->buf = malloc(BUF_BYTES);
	if (!f->buf)
		err = -ENOMEM;
	if (!err)
		err = open_fd(f, path);
	if (!err && gzip_level > 0)
		err = gzip__open(gzip_level, write_all, f, &f->gzip);
	if (err) {
		set_error(err, path);
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
				 : write_all(f, f->buf, f->len);
	f->passed += f->len;
	f->len = 0;
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
	if (f->fd >= 0)
		close(f->fd);
	free(f->buf);
	free(f->path);
	free(f->temp);
	free(f);
}

int text_file__finish(struct text_file *f, uint64_t *bytes)
{
	int err;

	flush(f);
	err = f->err;
	if (!err && f->gzip)
		err = gzip__finish(f->gzip);
	if (close(f->fd) < 0 && !err)
		err = -errno;
	f->fd = -1;
	if (!err && f->temp && rename(f->temp, f->path) < 0)
		err = -errno;
	*bytes = f->bytes;
	if (err) {
		set_error(err, f->path);
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
	if (f->temp)
		unlink(f->temp);
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
