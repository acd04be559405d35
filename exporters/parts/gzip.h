/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One gzip member, compressed by several threads. Each block is deflated separately, with the 32
 * KiB before it as dictionary. The pieces are written in order, so the result is an ordinary stream
 * for every reader, browsers included.
 */
#ifndef PROFTRACE_GZIP_H
#define PROFTRACE_GZIP_H

#include <stddef.h>

#define GZIP_BLOCK_BYTES (256u << 10)

struct gzip;

/* Calls write in order, from the thread that calls gzip__write and gzip__finish. */
int gzip__open(int level, int (*write)(void *ctx, const void *data, size_t len), void *ctx,
	       struct gzip **out);
int gzip__write(struct gzip *g, const void *data, size_t len);
int gzip__finish(struct gzip *g);
void gzip__close(struct gzip *g); /* at any time; g may be NULL */

#endif
