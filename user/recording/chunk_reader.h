/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads chunks of a file: bounded reads, checksums, decompression. */
#ifndef PROFTRACE_RECORDING_CHUNK_READER_H
#define PROFTRACE_RECORDING_CHUNK_READER_H

#include <sys/types.h>
#include <zstd.h>
#include "recording/format.h"

struct chunk_reader {
	int fd; /* borrowed */
	ZSTD_DCtx *zstd;
	uint8_t *stored, *raw;
	size_t stored_cap, raw_cap;
};

int chunk_reader__init(struct chunk_reader *cr, int fd); /* 0 or -ENOMEM */
void chunk_reader__free(struct chunk_reader *cr);

/* Reads the stored payload after the header at `off`, and compares its checksum. 0; -EBADMSG: it
 * differs, or the file ends inside; or the errno of reading. */
int chunk_reader__load(struct chunk_reader *cr, uint64_t off, const struct chunk_header *h);

/* The loaded payload, decompressed: h->raw_len bytes, valid until the next load. -EBADMSG if it
 * does not decompress to exactly that. */
int chunk_reader__payload(struct chunk_reader *cr, const struct chunk_header *h,
			  const uint8_t **payload);

/* Reads up to `len` bytes at `off`. Returns how many there were (fewer only at the end), or a
 * negative errno. */
ssize_t fd__read_at(int fd, void *buf, size_t len, uint64_t off);

#endif
