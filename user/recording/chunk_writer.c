// SPDX-License-Identifier: BSD-2-Clause
#include "recording/chunk_writer.h"
#include "common/err.h"
#include "recording/message_table.h"
#include "common/util.h"
#include <string.h>
#include <sys/uio.h>
#include <zlib.h>

#define ZSTD_LEVEL 1
#define PACK_WORTH 128 /* bytes; smaller payloads stay readable in a hex dump */

int chunk_writer__fail(struct chunk_writer *f, int err)
{
	if (!f->err) {
		f->err = err;
		if (f->bytes)
			err__set(err, MESSAGE_RECORDING_NOT_WRITTEN, f->sink.name,
				 (unsigned long long)f->bytes, sink__explain(err));
		else
			err__set(err, MESSAGE_RECORDING_NOT_BEGUN, f->sink.name,
				 sink__explain(err));
	}
	return f->err;
}

static int write_all(int fd, struct iovec *iov, int iov_cnt)
{
	while (iov_cnt) {
		ssize_t n = writev(fd, iov, iov_cnt);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		while (iov_cnt && (size_t)n >= iov->iov_len) {
			n -= (ssize_t)iov->iov_len;
			iov++;
			iov_cnt--;
		}
		if (iov_cnt) {
			iov->iov_base = (char *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

static int append(struct chunk_writer *f, struct iovec *iov, int iov_cnt)
{
	uint64_t len = 0;
	int err;

	for (int i = 0; i < iov_cnt; i++)
		len += iov[i].iov_len;
	err = write_all(f->sink.fd, iov, iov_cnt);
	if (err) {
		/* Removes a partial chunk. If that fails, the reader skips it. */
		if (ftruncate(f->sink.fd, (off_t)f->bytes) < 0)
			log__debug("%s: cannot cut a partial chunk: %s", f->sink.name,
				   strerror(errno));
		return chunk_writer__fail(f, err);
	}
	f->bytes += len;
	return 0;
}

int chunk_writer__create(struct chunk_writer *f, struct sink *sink)
{
	uint8_t header[FILE_HEADER_SIZE];
	struct iovec iov = {header, sizeof(header)};
	int err;

	memset(f, 0, sizeof(*f));
	f->sink = *sink;
	*sink = SINK_NONE;
	f->zstd = ZSTD_createCCtx();
	if (!f->zstd) {
		err = err__set(-ENOMEM, MESSAGE_RECORDING_CREATE_OUT_OF_MEMORY, f->sink.name);
		goto fail;
	}
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	file_header__pack(header);
	err = append(f, &iov, 1);
	if (!err)
		return 0;
fail:
	chunk_writer__close(f);
	return err;
}

static int reserve_packed(struct chunk_writer *f, size_t size)
{
	uint8_t *grown;

	if (size <= f->packed_cap)
		return 0;
	grown = realloc(f->packed, size);
	if (!grown)
		return -ENOMEM;
	f->packed = grown;
	f->packed_cap = size;
	return 0;
}

/* Compressed length, 0 if compression does not pay, or a negative errno. */
static ssize_t pack(struct chunk_writer *f, const uint8_t *raw, size_t raw_len)
{
	int err = reserve_packed(f, ZSTD_compressBound(raw_len));
	size_t len;

	if (err)
		return err;
	len = ZSTD_compress2(f->zstd, f->packed, f->packed_cap, raw, raw_len);
	/* With a higher ratio, a reader would have to trust the file with its memory. */
	if (ZSTD_isError(len) || len >= raw_len || raw_len > len * CHUNK_RATIO_MAX)
		return 0;
	return (ssize_t)len;
}

int chunk_writer__write(struct chunk_writer *f, struct chunk_header *h, const uint8_t *raw,
			size_t raw_len)
{
	uint8_t header[CHUNK_HEADER_SIZE];
	struct iovec iov[2] = {{header, sizeof(header)}, {(void *)raw, raw_len}};

	if (f->err)
		return f->err;
	if (raw_len > CHUNK_RAW_MAX)
		return chunk_writer__fail(f, -EINVAL);
	h->flags = 0;
	if (raw_len >= PACK_WORTH) {
		ssize_t len = pack(f, raw, raw_len);

		if (len < 0)
			return chunk_writer__fail(f, (int)len);
		if (len) {
			h->flags = CHUNK_ZSTD;
			iov[1] = (struct iovec){f->packed, (size_t)len};
		}
	}
	h->seq = f->seq;
	h->raw_len = (uint32_t)raw_len;
	h->stored_len = (uint32_t)iov[1].iov_len;
	h->payload_crc = (uint32_t)crc32(0, iov[1].iov_base, (uInt)iov[1].iov_len);
	chunk_header__pack(h, header);
	f->seq++;
	return append(f, iov, 2);
}

int chunk_writer__close(struct chunk_writer *f)
{
	int err;

	err = sink__close(&f->sink, f->bytes || !f->err);
	if (err && err != -EINTR)
		chunk_writer__fail(f, err);
	free(f->sink.name);
	free(f->packed);
	ZSTD_freeCCtx(f->zstd);
	return f->err;
}
