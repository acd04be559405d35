/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A BPF ring buffer that BPF programs find in a map of one place. It is exchanged for a larger or a
 * smaller one while they write. The kernel waits until no program uses the old one. The old one is
 * read to its end before the new one is. It does not wait for sleepable programs: none may write to
 * it.
 */
#ifndef PROFTRACE_RING_H
#define PROFTRACE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_PAUSED 1 /* no error: what is behind this record stays in the ring */

/* A record. 0, RING_PAUSED, or a negative errno that ends reading. */
typedef int (*ring_taker)(void *ctx, void *data, size_t size);

struct ring_limits {
	uint64_t begin_bytes, most_bytes; /* rounded up to a power of two of pages */
};

struct ring;

/* Makes the ring, and puts it into the map slot_fd. 0 or a negative errno. */
int ring__new(int slot_fd, const struct ring_limits *limits, ring_taker take, void *ctx,
	      struct ring **out);
/* Takes it out of the map: programs that still run lose their records. */
void ring__free(struct ring *r);

/* Reads what was in it when reading began: a process may fill it faster than it is read. 0,
 * RING_PAUSED, or an error, the callback's too. Not from a callback. */
int ring__read(struct ring *r);
/* Reads the rest of what was to be read after RING_PAUSED. As ring__read(). */
int ring__go_on(struct ring *r);
/* To poll() for POLLIN: a program woke us. Another one after each exchange. */
int ring__poll_fd(const struct ring *r);

/* Is more than a quarter of it unread? */
bool ring__fills(const struct ring *r);
uint64_t ring__bytes(const struct ring *r);

/*
 * Makes it larger, up to most_bytes, if it fills, or if records of unread_ns would not fit in, at
 * the fastest that they came since ring__forget_rate. Without memory for that it is as large as
 * there is memory for, which is warned of once. As ring__read(): the old ring is read.
 */
int ring__fit(struct ring *r, uint64_t unread_ns);
/* The size for records of unread_ns at that rate, least_bytes or more. */
uint64_t ring__fitting(const struct ring *r, uint64_t unread_ns, uint64_t least_bytes);
/* Exchanges it, if it has another size. As ring__fit(). */
int ring__resize(struct ring *r, uint64_t bytes);
/* So many bytes are expected in a second, though they have not come yet. */
void ring__expect(struct ring *r, uint64_t rate);
/* How fast records come is measured anew. */
void ring__forget_rate(struct ring *r);

/* ---- for unit tests ---- */

/* The size that a ring of `bytes` should have, if `unread` bytes wait and `rate` bytes come in a
 * second. */
uint64_t ring__wanted(uint64_t bytes, uint64_t unread, uint64_t rate, uint64_t unread_ns);

#endif
