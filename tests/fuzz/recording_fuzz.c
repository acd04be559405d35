// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens whatever bytes it is given and reads everything out of them. Checksums would stop nearly
 * every mutation at the door, so inputs whose last byte is odd get theirs put right first.
 */
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include "common/util.h"
#include "recording/format.h"
#include "recording/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static void fix_header(uint8_t *data)
{
	memcpy(data, FILE_MAGIC, FILE_MAGIC_SIZE);
	put32(data + 12, FILE_ORDER_MARK);
	put32(data + 20, (uint32_t)crc32(0, data, 20));
}

static void fix_checksums(uint8_t *data, size_t size)
{
	size_t off = FILE_HEADER_SIZE;

	if (size < FILE_HEADER_SIZE)
		return;
	fix_header(data);
	while (size - off >= CHUNK_HEADER_SIZE) {
		uint8_t *h = data + off;
		size_t room = size - off - CHUNK_HEADER_SIZE, stored = get32(h + 12);

		put32(h, CHUNK_SYNC);
		if (stored > room) {
			stored = room;
			put32(h + 12, (uint32_t)stored);
		}
		if (!(h[5] & CHUNK_ZSTD))
			put32(h + 16, (uint32_t)stored);
		put32(h + 24, (uint32_t)crc32(0, h + CHUNK_HEADER_SIZE, (uInt)stored));
		put32(h + 28, (uint32_t)crc32(0, h, 28));
		off += CHUNK_HEADER_SIZE + stored;
	}
}

static volatile size_t weight; /* uses the data that was read, so that the sanitizer checks it */

static void read_tables(const struct recording *r)
{
	const struct sched_row *rows;
	size_t sum = 0, cnt = recording__sched(r, &rows);

	for (uint32_t id = 1; id <= recording__name_cnt(r); id++) {
		const struct name *n = recording__name(r, id);

		sum += n ? strlen(n->text) + (n->schema ? strlen(n->schema) : 0) : 0;
	}
	for (uint32_t id = 1; id <= recording__track_cnt(r); id++) {
		const struct track *t = recording__track(r, id);

		sum += t && t->name ? strlen(t->name) : 0;
	}
	for (size_t i = 0; i < cnt; i++)
		sum += rows[i].ns;
	weight += sum + json_object_size(recording__meta(r));
}

static void read_events(const struct recording *r)
{
	struct recording_cursor *c;
	struct event e;
	uint64_t cnt = 0, bad = 0;
	int ret;

	if (recording_cursor__open(r, &c))
		return;
	while ((ret = recording_cursor__next(c, &e)) != 0) {
		if (ret < 0) {
			bad++;
			continue;
		}
		cnt++;
		for (uint32_t i = 0; i < e.args_len; i++)
			weight += ((const uint8_t *)e.args)[i];
	}
	/* The index promised these; only a chunk that does not decode may break it. */
	if (cnt > recording__event_cnt(r) || (!bad && cnt != recording__event_cnt(r)))
		__builtin_trap();
	recording_cursor__close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	auto_free uint8_t *copy = malloc(size + 1);
	struct recording *r;
	char path[64];

	if (fd < 0)
		fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || !copy)
		abort();
	memcpy(copy, data, size);
	if (size && data[size - 1] & 1)
		fix_checksums(copy, size);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, copy, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (recording__open(path, &r))
		return 0;
	read_tables(r);
	read_events(r);
	recording__close(r);
	return 0;
}
