// SPDX-License-Identifier: BSD-2-Clause
#include "recording/chunk_reader.h"
#include "common/util.h"
#include <string.h>
#include <zlib.h>

int chunk_reader__init(struct chunk_reader *cr, int fd)
{
	memset(cr, 0, sizeof(*cr));
	cr->fd = fd;
	cr->zstd = ZSTD_createDCtx();
	return cr->zstd ? 0 : -ENOMEM;
}

void chunk_reader__free(struct chunk_reader *cr)
{
	ZSTD_freeDCtx(cr->zstd);
	free(cr->stored);
	free(cr->raw);
	memset(cr, 0, sizeof(*cr));
}

ssize_t fd__read_at(int fd, void *buf, size_t len, uint64_t off)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, (char *)buf + got, len - got, (off_t)(off + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/* Reserves more than needed, because the next chunk may be a little larger, and new memory costs
 * page faults. */
static int reserve(uint8_t **buf, size_t *cap, size_t size)
{
	uint8_t *fresh;

	if (*buf && size <= *cap)
		return 0;
	size += size / 4 + 1; /* at least one byte */
	fresh = malloc(size); /* the old contents are not needed */
	if (!fresh)
		return -ENOMEM;
	free(*buf);
	*buf = fresh;
	*cap = size;
	return 0;
}

int chunk_reader__load(struct chunk_reader *cr, uint64_t off, const struct chunk_header *h)
{
	int err = reserve(&cr->stored, &cr->stored_cap, h->stored_len);
	ssize_t n;

	if (err)
		return err;
	n = fd__read_at(cr->fd, cr->stored, h->stored_len, off + CHUNK_HEADER_SIZE);
	if (n < 0)
		return (int)n;
	if ((size_t)n != h->stored_len ||
	    (uint32_t)crc32(0, cr->stored, h->stored_len) != h->payload_crc)
		return -EBADMSG;
	return 0;
}

int chunk_reader__payload(struct chunk_reader *cr, const struct chunk_header *h,
			  const uint8_t **payload)
{
	size_t n;
	int err;

	if (h->flags & ~CHUNK_KNOWN_FLAGS)
		return -EBADMSG;
	if (!(h->flags & CHUNK_ZSTD)) {
		*payload = cr->stored;
		return h->raw_len == h->stored_len ? 0 : -EBADMSG;
	}
	err = reserve(&cr->raw, &cr->raw_cap, h->raw_len);
	if (err)
		return err;
	n = ZSTD_decompressDCtx(cr->zstd, cr->raw, h->raw_len, cr->stored, h->stored_len);
	*payload = cr->raw;
	return ZSTD_isError(n) || n != h->raw_len ? -EBADMSG : 0;
}
