/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a BPF ring buffer is read at a time: what was in it when reading began. libbpf goes on
 * until the ring is empty, which a process that fills it fast enough never lets happen.
 */
#ifndef PROFTRACE_RING_SHARE_H
#define PROFTRACE_RING_SHARE_H

#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>

#define RING_ENOUGH	(-EXFULL) /* a callback's answer that ends reading; no error */
#define RING_HEAD_BYTES 8	  /* of each record; they begin at multiples of it */

struct ring_share {
	size_t left; /* bytes */
};

static inline void ring_share__begin(struct ring_share *s, const struct ring_buffer *ring)
{
	s->left = ring__avail_data_size(ring_buffer__ring((struct ring_buffer *)ring, 0));
}

/* A record was read: 0 or RING_ENOUGH. */
static inline int ring_share__took(struct ring_share *s, size_t size)
{
	const size_t whole = (size + 2 * RING_HEAD_BYTES - 1) & ~(size_t)(RING_HEAD_BYTES - 1);

	if (s->left <= whole)
		return RING_ENOUGH;
	s->left -= whole;
	return 0;
}

/* What reading returned, where that it was enough is none. */
static inline int ring_share__result(int n)
{
	return n < 0 && n != RING_ENOUGH ? n : 0;
}

#endif
