/* SPDX-License-Identifier: BSD-2-Clause */
/* A session's ring of records. Reads the ring and chooses its size while the session learns, waits and records. */
#ifndef PROFTRACE_CAPTURE_RING_H
#define PROFTRACE_CAPTURE_RING_H

#include "capture/session.h"

#define RING_BEGIN_BYTES (16ull << 20) /* all probes may be attached, and their hit rates are unknown */
#define RING_WAIT_BYTES	 (1ull << 20)  /* one record a step */
#define RING_ARMED_BYTES (4ull << 20)  /* at least */

int capture_ring__new(struct session *s, ring_taker take);
/* Call when the step length and the hit rates are known. Returns 0 or an error of reading the ring. */
int capture_ring__learned(struct session *s);
/* Call before the window's probes are attached. Returns as capture_ring__learned(). */
int capture_ring__armed(struct session *s);
int capture_ring__waits(struct session *s);
/* Enlarges the ring if records might be lost. Call it often, but not from a callback. Returns as
 * capture_ring__learned(). */
int capture_ring__fit(struct session *s);
/* How long the records of a window may stay unread: somebody may stop proftrace, or the disk may be slow. */
uint64_t capture_ring__unread_ns(const struct session *s);

#endif
