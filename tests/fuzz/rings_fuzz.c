// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a hostile process may write into the memory that it shares with us: counters of the rings,
 * calls, records of the device's activities, names. The input is a list of writes into that memory.
 */
#include <string.h>
#include <sys/mman.h>
#include "common/util.h"
#include "device/activity_queue.h"
#include "device/shim_rings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WRITES 64

/* One piece of the input: its destination, and how many bytes follow. */
struct piece {
	uint8_t place, len;
	uint16_t at; /* words from there */
};

static volatile size_t weight;
static struct activity_queue queue;

static char *place_of(struct shim_control *c, uint8_t place)
{
	switch (place % 8) {
	case 0:
		return (char *)&c->activities;
	case 1:
		return (char *)&c->rings[place / 8 % 2];
	case 2:
		return (char *)shim_calls(c, place / 8 % 2);
	case 3: /* the last records, before the ring begins again */
		return shim_activity_bytes(c) + SHIM_ACTIVITY_BYTES - 4096;
	case 4:
		return (char *)shim_seen_names(c);
	case 5:
		return shim_seen_texts(c);
	default:
		return shim_activity_bytes(c);
	}
}

/* Returns how many bytes of the input it took. */
static size_t write_piece(struct shim_control *c, const uint8_t *data, size_t size)
{
	struct piece p;
	size_t at;

	memcpy(&p, data, sizeof(p));
	at = p.at % 512 * 8;
	if (place_of(c, p.place) == (char *)&c->activities || p.place % 8 == 1)
		at %= sizeof(struct shim_ring);
	if (p.len > size - sizeof(p))
		p.len = (uint8_t)(size - sizeof(p));
	memcpy(place_of(c, p.place) + at, data + sizeof(p), p.len);
	return sizeof(p) + p.len;
}

static int take_call(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	if (call->end_ns < call->begin_ns)
		__builtin_trap();
	weight += ring + tid + call->api;
	return 0;
}

static int take_record(void *ctx, const struct shim_record *record)
{
	const struct shim_name *name = (const struct shim_name *)record;

	if (record->kind == SHIM_REC_NAME)
		weight += strlen(name->text);
	else if (record->kind != SHIM_REC_DEVICE && record->kind != SHIM_REC_CALL)
		activity_queue__push(&queue, record);
	for (size_t i = 0; i < record->bytes; i++)
		weight += ((const uint8_t *)record)[i];
	return 0;
}

static int take_activity(void *ctx, const union activity *activity)
{
	weight += activity->a.correlation;
	return 0;
}

static void read_all(struct shim_rings *r)
{
	char text[SHIM_SEEN_NAME_MAX + 1];

	shim_rings__drain(r);
	shim_rings__calls(r, take_call, NULL);
	shim_rings__activities(r, take_record, NULL);
	activity_queue__ripen(&queue);
	activity_queue__take(&queue, take_activity, NULL);
	for (uint64_t key = 0; key < 8; key++)
		if (shim_rings__seen_name(r, key, text))
			weight += strlen(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shim_rings rings;
	struct shim_control *c = mmap(NULL, SHIM_FILE_BYTES, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (c == MAP_FAILED)
		abort();
	shim_rings__init(&rings, c);
	for (int i = 0; i < WRITES && size > sizeof(struct piece); i++) {
		const size_t taken = write_piece(c, data, size);

		data += taken;
		size -= taken;
		if (i % 8 == 7)
			read_all(&rings);
	}
	read_all(&rings);
	shim_rings__clear(&rings);
	activity_queue__clear(&queue);
	munmap(c, SHIM_FILE_BYTES);
	return 0;
}
