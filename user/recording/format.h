/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format on disk, for writer and reader only: doc/reference/recording.md as constants. All
 * integers are little-endian.
 */
#ifndef PROFTRACE_RECORDING_FORMAT_H
#define PROFTRACE_RECORDING_FORMAT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "recording/event.h"

#define FORMAT_MAJOR 1
#define FORMAT_MINOR 4

#define FILE_MAGIC	 "\x89PTR\r\n\x1a\n"
#define FILE_MAGIC_SIZE	 8
#define FILE_ORDER_MARK	 0x01020304u
#define FILE_HEADER_SIZE 24

#define CHUNK_SYNC	  0xa554c8f1u /* bytes f1 c8 54 a5: invalid UTF-8, so they never occur in
					 JSON */
#define CHUNK_HEADER_SIZE 32

/* Limits of the format. They bound what a reader allocates for one chunk. */
#define CHUNK_RAW_MAX	 (16u << 20)
#define CHUNK_RATIO_MAX	 256u /* raw_len <= stored_len * this */
#define CHUNK_EVENTS_MAX 65536u
#define EVENT_ARGS_MAX	 65535u
#define STRING_LEN_MAX	 65535u
#define NAME_ID_MAX	 (1u << 22)
#define TRACK_ID_MAX	 (1u << 20)
#define CODE_ID_MAX	 (1u << 20)
#define FRAME_ID_MAX	 (1u << 22)
#define VARINT_MAX_SIZE	 10

enum chunk_type {
	CHUNK_META = 1,
	CHUNK_NAMES = 2,
	CHUNK_TRACKS = 3,
	CHUNK_EVENTS = 4,
	CHUNK_SCHED = 5,
	CHUNK_SUMMARY = 6,
	CHUNK_END = 7,
	CHUNK_CODE = 8,
	CHUNK_FRAMES = 9,
	CHUNK_ENTRIES = 10,
	CHUNK_TYPE_MAX = CHUNK_ENTRIES, /* highest type that this version knows */
};

enum chunk_flags {
	CHUNK_ZSTD = 1,
	CHUNK_KNOWN_FLAGS = CHUNK_ZSTD,
};

struct chunk_header {
	uint8_t type;	      /* enum chunk_type */
	uint8_t flags;	      /* enum chunk_flags */
	uint32_t seq;	      /* 0 for the first chunk of the file, then + 1 for each */
	uint32_t stored_len;  /* payload bytes that follow the header */
	uint32_t raw_len;     /* payload bytes after decompression */
	uint32_t event_cnt;   /* EVENTS: number of events, else 0 */
	uint32_t payload_crc; /* CRC-32 (zlib's) of the stored payload */
};

struct file_version {
	uint16_t major, minor;
};

void file_header__pack(uint8_t out[FILE_HEADER_SIZE]);
/* 0; -EINVAL: no recording, or another byte order; -EBADMSG: a recording by its magic, but the
 * header's checksum is wrong, so *v is undefined. */
int file_header__unpack(const uint8_t in[FILE_HEADER_SIZE], struct file_version *v);

void chunk_header__pack(const struct chunk_header *h, uint8_t out[CHUNK_HEADER_SIZE]);
/* False if these bytes are no chunk header, or one that exceeds a limit of the format. */
bool chunk_header__unpack(const uint8_t in[CHUNK_HEADER_SIZE], struct chunk_header *h);

/*
 * EVENTS payload: a directory (column count, length of each column), then the columns. A column has
 * one field of all events of the chunk. Readers skip columns after COLUMN_CNT.
 */
enum event_column {
	COLUMN_KIND,   /* u8: type | end << 3 | KIND_HAS_* */
	COLUMN_TRACK,  /* varint */
	COLUMN_NAME,   /* varint */
	COLUMN_TIME,   /* zigzag: its end less the end of the event before */
	COLUMN_DUR,    /* varint */
	COLUMN_ID,     /* KIND_HAS_ID, zigzag: id less the previous one of that type */
	COLUMN_VALUE,  /* KIND_HAS_VALUE, zigzag */
	COLUMN_FLAGS,  /* KIND_HAS_EXTRA, varint */
	COLUMN_ARGS,   /* KIND_HAS_EXTRA, varint: enum args_ref */
	COLUMN_BLOBS,  /* for each ARGS_NEW: varint length, bytes */
	COLUMN_MEMORY, /* for each ARGS_MEMORY: four zigzags, see struct memory_state */
	COLUMN_STACK,  /* for each event with EVENT_STACKED, varint */
	COLUMN_CNT,
};
#define COLUMN_CNT_MAX 64u /* most columns that a later minor version may have */

#define KIND_TYPE_MASK 7u
#define KIND_END_SHIFT 3
#define KIND_END_MASK  3u
#define KIND_HAS_ID    (1u << 5)
#define KIND_HAS_VALUE (1u << 6)
#define KIND_HAS_EXTRA (1u << 7) /* has flags or args */

enum args_ref {
	ARGS_NONE = 0,
	ARGS_NEW = 1,	 /* the next blob of COLUMN_BLOBS */
	ARGS_MEMORY = 2, /* struct event_memory out of COLUMN_MEMORY */
	ARGS_FIRST = 3,	 /* n: repeats blob n - ARGS_FIRST of this chunk */
};

/* Values that the next event is encoded against. Zeroed at the begin of each chunk. */
struct event_state {
	uint64_t end_ns;
	uint64_t id[KIND_TYPE_MASK + 1]; /* by event type */
	struct event_memory memory;
};

static inline uint64_t zigzag__pack(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t zigzag__unpack(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* LEB128; the caller has VARINT_MAX_SIZE bytes of room. Returns the byte after it. */
static inline uint8_t *varint__put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Bytes that are being read. Each get fails (false) instead of going beyond `end`. */
struct byte_reader {
	const uint8_t *p, *end;
};

static inline bool byte_reader__u8(struct byte_reader *r, uint8_t *v)
{
	if (r->p == r->end)
		return false;
	*v = *r->p++;
	return true;
}

/* Of any length, up to the last byte. */
bool byte_reader__varint_slow(struct byte_reader *r, uint64_t *v);

/* Reads up to eight bytes at once. Their seven bits each are joined by halves. */
static inline bool byte_reader__varint(struct byte_reader *r, uint64_t *v)
{
	uint64_t x, ends;

	if (r->p != r->end && *r->p < 0x80) {
		*v = *r->p++;
		return true;
	}
	if (r->end - r->p < (ptrdiff_t)sizeof(x))
		return byte_reader__varint_slow(r, v);
	memcpy(&x, r->p, sizeof(x));
	x = le64toh(x);
	ends = ~x & 0x8080808080808080u;
	if (!ends)
		return byte_reader__varint_slow(r, v);
	x &= ends ^ (ends - 1);
	r->p += (__builtin_ctzll(ends) >> 3) + 1;
	x = (x & 0x007f007f007f007fu) | (x & 0x7f007f007f007f00u) >> 1;
	x = (x & 0x00003fff00003fffu) | (x & 0x3fff00003fff0000u) >> 2;
	*v = (x & 0x000000000fffffffu) | (x & 0x0fffffff00000000u) >> 4;
	return true;
}

static inline bool byte_reader__zigzag(struct byte_reader *r, int64_t *v)
{
	uint64_t u;

	if (!byte_reader__varint(r, &u))
		return false;
	*v = zigzag__unpack(u);
	return true;
}

/* A varint that must fit 32 bits. It is an id or an index, so mostly one or two bytes. */
static inline bool byte_reader__u32(struct byte_reader *r, uint32_t *v)
{
	uint64_t wide;

	if (r->end - r->p >= 2 && r->p[0] >= 0x80 && r->p[1] < 0x80) {
		*v = (r->p[0] & 0x7fu) | (uint32_t)r->p[1] << 7;
		r->p += 2;
		return true;
	}
	if (!byte_reader__varint(r, &wide) || wide > UINT32_MAX)
		return false;
	*v = (uint32_t)wide;
	return true;
}
/* Reads a varint length of at most `max`, and points to that many bytes. */
bool byte_reader__bytes(struct byte_reader *r, uint32_t max, const uint8_t **data, uint32_t *len);

#endif
