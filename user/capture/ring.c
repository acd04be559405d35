// SPDX-License-Identifier: BSD-2-Clause
#include "capture/ring.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND	    1000000000ull
#define SAMPLE_NS   (SECOND / 10)  /* the rate of records is measured over this time */
#define ENOUGH	    (-EXFULL)	   /* a callback's answer that ends reading without an error */
#define PAUSE	    (-EINPROGRESS) /* a callback's answer: reading stops, and records remain */
#define REFUSED	    2		   /* the kernel has no memory for a ring of that size */
#define RECORD_HEAD 8		   /* bytes before each record; records begin at multiples of 8 */
#define GROWTH	    4
#define LEAST_BYTES (64ull << 10) /* a smaller ring is not worth a try */

struct buffer {
	int fd; /* of the BPF map */
	struct ring_buffer *reader;
};

struct ring {
	int slot_fd;
	uint64_t most_bytes;
	ring_taker take;
	void *ctx;

	struct buffer now;
	/* the buffer before the exchange; reader NULL: it has been read to its end */
	struct buffer before;
	uint64_t bytes;
	bool is_refused; /* the kernel has no memory for a larger one */
	bool has_warned;

	uint64_t left;			  /* bytes to read in this turn */
	uint64_t waited;		  /* the largest `left` since the ring has this size */
	uint64_t sample_ns, sample_bytes; /* begin of the sample, and bytes read since then */
	uint64_t rate;			  /* bytes a second, the highest of all samples */
};

static uint64_t round_up(uint64_t bytes)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);

	while (size < bytes)
		size *= 2;
	return size;
}

/* ---- reading ---- */

static int on_record(void *ctx, void *data, size_t size)
{
	struct ring *r = ctx;
	const uint64_t whole = (size + 2 * RECORD_HEAD - 1) & ~(uint64_t)(RECORD_HEAD - 1);
	const int err = r->take(r->ctx, data, size);

	r->sample_bytes += whole;
	r->left -= whole < r->left ? whole : r->left;
	if (err)
		return err == RING_PAUSED ? PAUSE : err;
	return r->left ? 0 : ENOUGH;
}

static uint64_t unread(const struct ring *r)
{
	return ring__avail_data_size(ring_buffer__ring(r->now.reader, 0));
}

static void sample(struct ring *r)
{
	const uint64_t now = clock__monotonic_ns(), passed = now - r->sample_ns;
	uint64_t rate;

	if (passed < SAMPLE_NS)
		return;
	rate = (uint64_t)((double)r->sample_bytes * (double)SECOND / (double)passed);
	if (rate > r->rate)
		r->rate = rate;
	r->sample_ns = now;
	r->sample_bytes = 0;
}

static int result(struct ring *r, int n)
{
	sample(r);
	if (n == PAUSE)
		return RING_PAUSED;
	return n < 0 && n != ENOUGH ? n : 0;
}

static void release(struct buffer *b)
{
	ring_buffer__free(b->reader);
	if (b->fd >= 0)
		close(b->fd);
	*b = (struct buffer){.fd = -1};
}

/* The old buffer: programs write nothing into it any more. */
static int read_before(struct ring *r)
{
	int err;

	if (!r->before.reader)
		return 0;
	r->left = UINT64_MAX;
	err = result(r, ring_buffer__consume(r->before.reader));
	r->left = 0;
	if (!err)
		release(&r->before);
	return err;
}

static void turn(struct ring *r)
{
	r->left = unread(r);
	if (r->left > r->waited)
		r->waited = r->left;
}

int ring__read(struct ring *r)
{
	const int err = read_before(r);

	if (err)
		return err;
	turn(r);
	return result(r, ring_buffer__consume(r->now.reader));
}

int ring__go_on(struct ring *r)
{
	if (r->before.reader)
		return read_before(r);
	return r->left ? result(r, ring_buffer__consume(r->now.reader)) : 0;
}

int ring__poll_fd(const struct ring *r)
{
	return ring_buffer__epoll_fd(r->now.reader);
}

/* ---- exchange ---- */

/* Makes a buffer that the programs do not know yet. Returns 0 or a negative errno. */
static int make(struct ring *r, uint64_t bytes, struct buffer *out)
{
	int err;

	*out = (struct buffer){
		.fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, (uint32_t)bytes, NULL)};
	if (out->fd < 0)
		return -errno;
	out->reader = ring_buffer__new(out->fd, on_record, r, NULL);
	if (out->reader)
		return 0;
	err = -errno;
	close(out->fd);
	return err;
}

/* When the call returns, no program uses the buffer that was in the slot before. */
static int put_into_slot(const struct ring *r, const struct buffer *b)
{
	const uint32_t place = 0;

	return bpf_map_update_elem(r->slot_fd, &place, &b->fd, BPF_ANY) ? -errno : 0;
}

static int make_known(struct ring *r, uint64_t bytes, struct buffer *out)
{
	int err = make(r, bytes, out);

	if (err)
		return err;
	err = put_into_slot(r, out);
	if (err)
		release(out);
	return err;
}

/* Returns as ring__read(), or REFUSED. */
static int exchange(struct ring *r, uint64_t bytes)
{
	struct buffer other;
	int err = read_before(r);

	if (err)
		return err;
	err = make_known(r, bytes, &other);
	if (err) {
		log__debug("no ring of %llu bytes: %s", (unsigned long long)bytes, strerror(-err));
		return REFUSED;
	}
	r->before = r->now;
	r->now = other;
	r->bytes = bytes;
	r->waited = 0;
	return read_before(r);
}

static void warn_refused(struct ring *r, uint64_t wanted)
{
	if (!r->has_warned)
		log__warn(MESSAGE_RING_SMALL, (unsigned long long)(wanted >> 20),
			  (unsigned long long)(r->bytes >> 10));
	r->has_warned = true;
}

/* If the kernel refuses the wanted size, tries half of it, then a quarter, and so on. */
static int grow(struct ring *r, uint64_t wanted)
{
	int err = exchange(r, wanted);

	r->is_refused = err == REFUSED;
	for (uint64_t bytes = wanted / 2; err == REFUSED && bytes > r->bytes; bytes /= 2)
		err = exchange(r, bytes);
	if (r->is_refused)
		warn_refused(r, wanted);
	return err == REFUSED ? 0 : err;
}

int ring__new(int slot_fd, const struct ring_limits *limits, ring_taker take, void *ctx,
	      struct ring **out)
{
	struct ring *r = calloc(1, sizeof(*r));
	uint64_t begin;
	int err;

	if (!r)
		return -ENOMEM;
	*r = (struct ring){.slot_fd = slot_fd,
			   .most_bytes = round_up(limits->most_bytes),
			   .take = take,
			   .ctx = ctx,
			   .now.fd = -1,
			   .before.fd = -1,
			   .sample_ns = clock__monotonic_ns()};
	begin = round_up(limits->begin_bytes);
	begin = begin < r->most_bytes ? begin : r->most_bytes;
	err = make_known(r, begin, &r->now);
	while (err == -ENOMEM && (begin /= 2) >= LEAST_BYTES)
		err = make_known(r, begin, &r->now);
	if (err) {
		free(r);
		return err;
	}
	r->bytes = begin;
	*out = r;
	return 0;
}

void ring__free(struct ring *r)
{
	const uint32_t place = 0;

	if (!r)
		return;
	bpf_map_delete_elem(r->slot_fd, &place);
	release(&r->before);
	release(&r->now);
	free(r);
}

/* ---- size ---- */

uint64_t ring__bytes(const struct ring *r)
{
	return r->bytes;
}

bool ring__fills(const struct ring *r)
{
	return unread(r) > r->bytes / 4;
}

uint64_t ring__wanted(uint64_t bytes, uint64_t unread, uint64_t rate, uint64_t unread_ns)
{
	const double waits = (double)rate * ((double)unread_ns / (double)SECOND);
	const uint64_t grown = unread > bytes / 4 ? GROWTH * bytes : bytes;

	if (waits >= (double)INT64_MAX / 2)
		return round_up(INT64_MAX / 2);
	return round_up(waits > (double)grown ? (uint64_t)waits : grown);
}

static uint64_t at_most(const struct ring *r, uint64_t bytes)
{
	return bytes < r->most_bytes ? bytes : r->most_bytes;
}

uint64_t ring__fitting(const struct ring *r, uint64_t unread_ns, uint64_t least_bytes)
{
	return at_most(r, ring__wanted(least_bytes, 0, r->rate, unread_ns));
}

int ring__fit(struct ring *r, uint64_t unread_ns)
{
	const uint64_t now = unread(r), most = now > r->waited ? now : r->waited;
	const uint64_t bytes = at_most(r, ring__wanted(r->bytes, most, r->rate, unread_ns));

	if (bytes <= r->bytes || r->is_refused)
		return 0;
	log__debug("ring of %llu bytes instead of %llu: %llu wait, up to %llu come in a second",
		   (unsigned long long)bytes, (unsigned long long)r->bytes,
		   (unsigned long long)most, (unsigned long long)r->rate);
	return grow(r, bytes);
}

int ring__resize(struct ring *r, uint64_t bytes)
{
	int err = 0;

	bytes = at_most(r, round_up(bytes));
	r->is_refused = false; /* there may be memory by now */
	if (bytes > r->bytes)
		return grow(r, bytes);
	if (bytes < r->bytes)
		err = exchange(r, bytes);
	return err == REFUSED ? 0 : err;
}

void ring__expect(struct ring *r, uint64_t rate)
{
	if (rate > r->rate)
		r->rate = rate;
}

void ring__forget_rate(struct ring *r)
{
	r->rate = r->sample_bytes = 0;
	r->sample_ns = clock__monotonic_ns();
}
