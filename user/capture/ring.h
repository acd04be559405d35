/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A BPF ring buffer that can be exchanged for a larger or smaller one while BPF programs write. BPF programs find it in
 * a map with one entry. At an exchange the kernel waits until no program uses the old buffer. We read the old buffer to
 * its end before the new one. The kernel does not wait for sleepable programs: these must not write to the ring.
 */
#ifndef PROFTRACE_RING_H
#define PROFTRACE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_PAUSED 1 /* not an error: the records after this one stay in the ring */

/* Takes a record. Returns 0, RING_PAUSED, or a negative errno that ends reading. */
typedef int (*ring_taker)(void *ctx, void *data, size_t size);

struct ring_limits {
	uint64_t begin_bytes, most_bytes; /* rounded up to a power of two of pages */
};

struct ring;

/* Makes the ring and puts it into the map slot_fd. Returns 0 or a negative errno. */
int ring__new(int slot_fd, const struct ring_limits *limits, ring_taker take, void *ctx,
	      struct ring **out);
/* Takes the ring out of the map. Programs that still run lose their records. */
void ring__free(struct ring *r);

/* Reads the records that are in the ring at the call. Later records wait, since a process may fill the ring faster than
 * we read. Returns 0, RING_PAUSED, or an error (also the callback's). Do not call it from a callback. */
int ring__read(struct ring *r);
/* Continues reading after RING_PAUSED. Returns as ring__read(). */
int ring__go_on(struct ring *r);
/* The descriptor to poll() for POLLIN: a program wakes us by it. It changes with each exchange. */
int ring__poll_fd(const struct ring *r);

/* Is more than a quarter of the ring unread? */
bool ring__fills(const struct ring *r);
uint64_t ring__bytes(const struct ring *r);

/*
 * Enlarges the ring, up to most_bytes, if it fills. Enlarges it too if it cannot hold the records of unread_ns at the
 * highest rate since ring__forget_rate(). If memory is short, the ring gets the largest size that the kernel grants,
 * and one warning is printed. Reads the old ring; returns as ring__read().
 */
int ring__fit(struct ring *r, uint64_t unread_ns);
/* The size for the records of unread_ns at that highest rate, at least least_bytes. */
uint64_t ring__fitting(const struct ring *r, uint64_t unread_ns, uint64_t least_bytes);
/* Exchanges the ring if its size differs from `bytes`. Returns as ring__read(). */
int ring__resize(struct ring *r, uint64_t bytes);
/* Expects this rate (bytes a second) before any such records have come. */
void ring__expect(struct ring *r, uint64_t rate);
/* Measures the rate of records anew. */
void ring__forget_rate(struct ring *r);

/* ---- for unit tests ---- */

/* The size for a ring of `bytes`, if `unread` bytes are unread and `rate` bytes come each second. */
uint64_t ring__wanted(uint64_t bytes, uint64_t unread, uint64_t rate, uint64_t unread_ns);

#endif
