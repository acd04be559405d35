// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/spool.h"
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/out_file.h"
#include "common/util.h"

int spool__open(const char *beside, struct spool *s)
{
	const char *slash = strrchr(beside, '/'), *temp = getenv("TMPDIR");
	auto_free char *dir = slash == beside ? strdup("/")
			      : slash	      ? strndup(beside, (size_t)(slash - beside))
					      : strdup(".");

	*s = (struct spool){
		.fd = dir && strcmp(beside, TEXT_FILE_STDOUT) ? out_file__open_temporary(dir) : -1};
	s->beside = s->fd >= 0;
	if (s->fd < 0)
		s->fd = out_file__open_temporary(temp ? temp : "/var/tmp");
	if (s->fd < 0)
		return err__set(s->fd, MESSAGE_TEMPORARY_FILE_NOT_CREATED, temp ? temp : "/var/tmp",
				strerror(-s->fd));
	return 0;
}

void spool__close(struct spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int failed(const struct spool *s, int err)
{
	if (s->beside)
		return err__set(err, MESSAGE_TEMPORARY_FILE_BESIDE_OUTPUT_NOT_WRITTEN,
				strerror(-err));
	return err__set(err, MESSAGE_TEMPORARY_FILE_NOT_WRITTEN, strerror(-err));
}

static int write_block(struct spool *s, struct spool_text *t)
{
	const uint64_t block = s->block_cnt++;
	size_t done = 0;

	while (done < t->len) {
		const ssize_t n = pwrite(s->fd, t->buf + done, t->len - done,
					 (off_t)(block * SPOOL_BLOCK_BYTES + done));

		if (n < 0 && errno != EINTR)
			return failed(s, -errno);
		done += n > 0 ? (size_t)n : 0;
	}
	t->len = 0;
	return ARRAY_PUSH(t->blocks, t->block_cnt, t->block_cap, block);
}

int spool__put(struct spool *s, struct spool_text *t, const char *text, size_t len)
{
	int err = 0;

	if (!t->buf)
		t->buf = malloc(SPOOL_BLOCK_BYTES);
	if (!t->buf)
		return -ENOMEM;
	while (len && !err) {
		const size_t room = SPOOL_BLOCK_BYTES - t->len, part = len < room ? len : room;

		memcpy(t->buf + t->len, text, part);
		t->len += part;
		text += part;
		len -= part;
		if (t->len == SPOOL_BLOCK_BYTES)
			err = write_block(s, t);
	}
	return err;
}

static int copy_block(const struct spool *s, uint64_t block, struct text_file *out)
{
	char *to = text_file__room(out, SPOOL_BLOCK_BYTES);
	size_t done = 0;

	while (done < SPOOL_BLOCK_BYTES) {
		const ssize_t n = pread(s->fd, to + done, SPOOL_BLOCK_BYTES - done,
					(off_t)(block * SPOOL_BLOCK_BYTES + done));

		if (!n || (n < 0 && errno != EINTR))
			return failed(s, n < 0 ? -errno : -EIO);
		done += n > 0 ? (size_t)n : 0;
	}
	text_file__take(out, to + SPOOL_BLOCK_BYTES);
	return text_file__error(out);
}

int spool__copy(struct spool *s, struct spool_text *t, struct text_file *out)
{
	int err = 0;

	for (size_t i = 0; i < t->block_cnt && !err; i++)
		err = copy_block(s, t->blocks[i], out);
	if (!err)
		text_file__put(out, t->buf ? t->buf : "", t->len);
	spool_text__free(t);
	return err;
}

void spool_text__free(struct spool_text *t)
{
	free(t->buf);
	free(t->blocks);
	*t = (struct spool_text){0};
}
