/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks to a file: compression, checksums, whole writes. Errors are sticky and explained. */
#ifndef PROFTRACE_RECORDING_CHUNK_FILE_H
#define PROFTRACE_RECORDING_CHUNK_FILE_H

#include <sys/types.h>
#include <zstd.h>
#include "common/out_file.h"
#include "recording/format.h"

struct chunk_file {
	char *path;
	struct out_file out;
	int err;	/* the first error, 0 if none */
	uint64_t bytes; /* written: always the end of a whole chunk */
	uint32_t seq;	/* of the next chunk */
	ZSTD_CCtx *zstd;
	uint8_t *packed;
	size_t packed_cap;
};

/* Creates the file and writes its header. On error there is nothing to close. */
int chunk_file__create(struct chunk_file *f, const char *path);

/* Writes a chunk. h: type and event_cnt; the rest is filled in here. */
int chunk_file__write(struct chunk_file *f, struct chunk_header *h, const uint8_t *raw,
		      size_t raw_len);

/* Remembers the first error; returns f->err. */
int chunk_file__fail(struct chunk_file *f, int err);

/* Closes and frees; the sticky error, or the one of close(2). */
int chunk_file__close(struct chunk_file *f);

#endif
