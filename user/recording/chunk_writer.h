/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes chunks to a sink: compression, checksums, complete writes. The first error stays, and is
 * explained. */
#ifndef PROFTRACE_RECORDING_CHUNK_WRITER_H
#define PROFTRACE_RECORDING_CHUNK_WRITER_H

#include <sys/types.h>
#include <zstd.h>
#include "recording/format.h"
#include "recording/sink.h"

struct chunk_writer {
	struct sink sink;
	int err;	/* the first error, 0 if none */
	uint64_t bytes; /* bytes written, up to the end of a whole chunk */
	uint32_t seq;	/* of the next chunk */
	ZSTD_CCtx *zstd;
	uint8_t *packed;
	size_t packed_cap;
};

/* Takes over the open sink and writes the header. After an error there is nothing to close. */
int chunk_writer__create(struct chunk_writer *f, struct sink *sink);

/* Writes a chunk. h has type and event_cnt; this fills in the rest. */
int chunk_writer__write(struct chunk_writer *f, struct chunk_header *h, const uint8_t *raw,
		      size_t raw_len);

/* Remembers the first error; returns f->err. */
int chunk_writer__fail(struct chunk_writer *f, int err);

/* Closes and frees. Returns the first error, or that of close(2). */
int chunk_writer__close(struct chunk_writer *f);

#endif
