/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that grow in parallel and are read one after the other, through a temporary file without a
 * name. Each text takes one block of memory, and eight bytes per written block.
 */
#ifndef PROFTRACE_SPOOL_H
#define PROFTRACE_SPOOL_H

#include <stdbool.h>
#include "exporters/parts/text_file.h"

#define SPOOL_BLOCK_BYTES (16u << 10)

struct spool {
	int fd;
	bool beside; /* in the output's directory, not in TMPDIR */
	uint64_t block_cnt;
};

struct spool_text {
	char *buf;
	size_t len;
	uint64_t *blocks;
	size_t block_cnt, block_cap;
};

/* beside: a path in a directory with enough room, or "-". */
int spool__open(const char *beside, struct spool *s);
void spool__close(struct spool *s);

int spool__put(struct spool *s, struct spool_text *t, const char *text, size_t len);
/* Writes the text to the file and frees its memory. */
int spool__copy(struct spool *s, struct spool_text *t, struct text_file *out);
void spool_text__free(struct spool_text *t);

#endif
