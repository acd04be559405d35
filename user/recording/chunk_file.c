// SPDX-License-Identifier: BSD-2-Clause
#include "recording/chunk_file.h"
#include "common/err.h"
#include "common/regular_file.h"
#include "common/util.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <zlib.h>

#define ZSTD_LEVEL 1
#define PACK_WORTH 128 /* smaller payloads stay readable in a hex dump */

static const char *next_step(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
		return "free some space or write to another disk";
	case -EFBIG:
		return "raise the file size limit (ulimit -f)";
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return "choose a place that you may write to";
	case -ENOENT:
	case -ENOTDIR:
		return "choose a directory that is there and takes files";
	case -EISDIR:
		return "name a file, not a directory";
	case -ENOMEM:
		return "free some memory";
	case -ENAMETOOLONG:
		return "choose a shorter name";
	case -EOWNERDEAD:
		return out_file__explain(err);
	case -EINVAL:
		return "an event or a name that the format cannot hold";
	default:
		return "look at the disk (dmesg)";
	}
}

int chunk_file__fail(struct chunk_file *f, int err)
{
	if (!f->err) {
		f->err = err;
		err__set(err, "cannot write recording %s: %s after %llu bytes; %s%s", f->path,
			 strerror(-err), (unsigned long long)f->bytes, next_step(err),
			 f->bytes ? "; what is in the file so far opens" : "");
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

static int append(struct chunk_file *f, struct iovec *iov, int iov_cnt)
{
	uint64_t len = 0;
	int err;

	for (int i = 0; i < iov_cnt; i++)
		len += iov[i].iov_len;
	err = write_all(f->out.fd, iov, iov_cnt);
	if (err) {
		/* Takes half a chunk back; where that fails the reader skips it. */
		if (ftruncate(f->out.fd, (off_t)f->bytes) < 0)
			log__debug("%s: cannot cut a partial chunk: %s", f->path, strerror(errno));
		return chunk_file__fail(f, err);
	}
	f->bytes += len;
	return 0;
}

static int not_created(const char *path, int err)
{
	const char *why = out_file__explain(err);

	return why ? err__set(err, "cannot create recording %s: %s", path, why)
		   : err__set(err, "cannot create recording %s: %s; %s", path, strerror(-err),
			      next_step(err));
}

/* Whether a recording or nothing is in the file that path names without a link; -EEXIST: neither.
 */
static int look_inside(const char *path)
{
	auto_close int seen = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	auto_close int fd = seen < 0 ? -1 : regular_file__reopen(seen, O_RDONLY);
	uint8_t header[FILE_HEADER_SIZE];
	struct file_version version;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !st.st_size)
		return 0;
	if (UNINTERRUPTED(read(fd, header, sizeof(header))) != sizeof(header) ||
	    file_header__unpack(header, &version))
		return err__set(-EEXIST,
				"cannot create recording %s: a file is there that is no recording; "
				"choose another place with -o, or remove it",
				path);
	return 1;
}

/* A recording of an earlier run moves aside, to PATH.old; a file that is none is not ours to
 * overwrite. */
static int make_room(const char *path)
{
	auto_free char *old = NULL;
	int there = look_inside(path), err;

	if (there <= 0)
		return there;
	if (asprintf(&old, "%s.old", path) < 0) {
		old = NULL;
		return -ENOMEM;
	}
	there = look_inside(old);
	if (there < 0)
		return there;
	err = out_file__set_aside(path);
	if (!err)
		log__info("kept the earlier recording as %s", old);
	return err ? not_created(path, err) : 0;
}

int chunk_file__create(struct chunk_file *f, const char *path)
{
	uint8_t header[FILE_HEADER_SIZE];
	struct iovec iov = {header, sizeof(header)};
	int err = make_room(path);

	memset(f, 0, sizeof(*f));
	if (err)
		return err;
	err = out_file__open(&f->out, path, OUT_LIVE);
	if (err)
		return not_created(path, err);
	f->path = strdup(path);
	f->zstd = ZSTD_createCCtx();
	if (!f->path || !f->zstd) {
		err = err__set(-ENOMEM, "cannot create recording %s: out of memory", path);
		goto fail;
	}
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	file_header__pack(header);
	err = append(f, &iov, 1);
	if (!err)
		return 0;
fail:
	chunk_file__close(f);
	return err;
}

static int reserve_packed(struct chunk_file *f, size_t size)
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

/* Packed length, 0 if it does not pay, or a negative errno. */
static ssize_t pack(struct chunk_file *f, const uint8_t *raw, size_t raw_len)
{
	int err = reserve_packed(f, ZSTD_compressBound(raw_len));
	size_t len;

	if (err)
		return err;
	len = ZSTD_compress2(f->zstd, f->packed, f->packed_cap, raw, raw_len);
	/* Beyond that ratio a reader would have to trust the file with its memory. */
	if (ZSTD_isError(len) || len >= raw_len || raw_len > len * CHUNK_RATIO_MAX)
		return 0;
	return (ssize_t)len;
}

int chunk_file__write(struct chunk_file *f, struct chunk_header *h, const uint8_t *raw,
		      size_t raw_len)
{
	uint8_t header[CHUNK_HEADER_SIZE];
	struct iovec iov[2] = {{header, sizeof(header)}, {(void *)raw, raw_len}};

	if (f->err)
		return f->err;
	if (raw_len > CHUNK_RAW_MAX)
		return chunk_file__fail(f, -EINVAL);
	h->flags = 0;
	if (raw_len >= PACK_WORTH) {
		ssize_t len = pack(f, raw, raw_len);

		if (len < 0)
			return chunk_file__fail(f, (int)len);
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

/* An empty file would only be taken for a recording. */
static void remove_empty(const struct chunk_file *f)
{
	struct stat st;

	if (f->err && !f->bytes && f->path && !fstat(f->out.fd, &st) && S_ISREG(st.st_mode))
		out_file__remove(f->path);
}

int chunk_file__close(struct chunk_file *f)
{
	int err;

	remove_empty(f);
	err = out_file__publish(&f->out);
	if (err && err != -EINTR)
		chunk_file__fail(f, err);
	free(f->path);
	free(f->packed);
	ZSTD_freeCCtx(f->zstd);
	return f->err;
}
