/* SPDX-License-Identifier: BSD-2-Clause */
/* A session's ring of records: reads it, and chooses its size while the session learns, waits and records. */
#ifndef PROFTRACE_CAPTURE_RING_H
#define PROFTRACE_CAPTURE_RING_H

#include "capture/session.h"

#define RING_BEGIN_BYTES (16ull << 20) /* any probe may be in, and how often they are hit is unknown */
#define RING_WAIT_BYTES	 (1ull << 20)  /* a record for each step */
#define RING_ARMED_BYTES (4ull << 20)  /* at least */

int capture_ring__new(struct session *s, ring_taker take);
/* Steps and how often probes are hit are known, if they can be. 0 or an error of reading. */
int capture_ring__learned(struct session *s);
/* Before the window's probes go in, and once they are out. As above. */
int capture_ring__armed(struct session *s);
int capture_ring__waits(struct session *s);
/* Call often, but from no callback: makes it larger where records might be lost. As above. */
int capture_ring__fit(struct session *s);
/* For how long records of a window may be unread: proftrace may be stopped, or a disk be slow. */
uint64_t capture_ring__unread_ns(const struct session *s);

#endif
