// SPDX-License-Identifier: BSD-2-Clause
/*
 * expand KIND MIB FILE: writes a recording that expands to MIB MiB of KIND. Each chunk expands 256
 * times, the most that the format allows.
 */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define RAW_MAX	   (16u << 20)
#define RATIO_MAX  256u
#define EVENTS_MAX 65536u

enum { META = 1, NAMES = 2, TRACKS = 3, EVENTS = 4, SCHED = 5, CODE = 8, FRAMES = 9 };
enum { SPAN = 1, INSTANT = 7 };

static FILE *out;
static uint32_t seq;
static uint8_t raw[RAW_MAX + 4096], packed[RAW_MAX + (1 << 20)];

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static uint8_t *varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)v | 0x80;
	*p++ = (uint8_t)v;
	return p;
}

/* The format requires some chunks beyond the frame. This one is of a type that decoders skip. */
static void chunk(uint8_t type, size_t len, uint32_t events)
{
	uint8_t h[32] = {0};
	size_t stored = ZSTD_compress(packed, sizeof(packed), raw, len, 3);
	const size_t least = (len + RATIO_MAX - 1) / RATIO_MAX;

	if (stored < least) {
		const size_t pad = least - stored < 8 ? 0 : least - stored - 8;

		put32(packed + stored, 0x184d2a50);
		put32(packed + stored + 4, (uint32_t)pad);
		memset(packed + stored + 8, 0, pad);
		stored += 8 + pad;
	}
	put32(h, 0xa554c8f1);
	h[4] = type;
	h[5] = 1;
	put32(h + 8, seq++);
	put32(h + 12, (uint32_t)stored);
	put32(h + 16, (uint32_t)len);
	put32(h + 20, events);
	put32(h + 24, (uint32_t)crc32(0, packed, (uInt)stored));
	put32(h + 28, (uint32_t)crc32(0, h, 28));
	fwrite(h, sizeof(h), 1, out);
	fwrite(packed, stored, 1, out);
}

static void begin(const char *path)
{
	uint8_t h[24] = "\x89PTR\r\n\x1a\n";

	out = fopen(path, "w");
	if (!out)
		exit(1);
	h[8] = 1;
	put32(h + 12, 0x01020304);
	put32(h + 20, (uint32_t)crc32(0, h, 20));
	fwrite(h, sizeof(h), 1, out);
}

static void text_chunk(uint8_t type, const char *text)
{
	const size_t len = strlen(text);

	memcpy(raw, text, len);
	chunk(type, len, 0);
}

static size_t repeated(const char *head, const char *part, const char *tail)
{
	const size_t head_len = strlen(head), len = strlen(part), tail_len = strlen(tail);
	size_t at = head_len;

	memcpy(raw, head, head_len);
	for (; at + len + tail_len <= RAW_MAX; at += len)
		memcpy(raw + at, part, len);
	memcpy(raw + at - 1, tail, tail_len); /* in place of the last comma */
	return at - 1 + tail_len;
}

/* One row with the highest number, because readers make rows for all lower numbers. */
static void highest(uint8_t type, uint32_t id, const uint8_t *rest, size_t len)
{
	uint8_t *p = varint(raw, 1);

	p = varint(p, id);
	memcpy(p, rest, len);
	memset(p + len, 0, 2048); /* is not looked at */
	chunk(type, (size_t)(p - raw) + len + 2048, 0);
}

static void put_sched(void)
{
	const uint32_t cnt = (RAW_MAX - 8) / 6;
	uint8_t *p = varint(raw, cnt);

	memset(p, 0, (size_t)cnt * 6);
	chunk(SCHED, (size_t)(p - raw) + (size_t)cnt * 6, 0);
}

/* As many events as a chunk may have, each a nanosecond after the previous one. */
static void put_events(uint8_t type, uint8_t dur)
{
	const uint8_t columns[] = {type, 1, 1, 2, dur}; /* one value for all events */
	const uint32_t n = EVENTS_MAX;
	uint8_t *p = varint(raw, sizeof(columns));

	for (size_t i = 0; i < sizeof(columns); i++)
		p = varint(p, n);
	for (size_t i = 0; i < sizeof(columns); i++, p += n)
		memset(p, columns[i], n);
	chunk(EVENTS, (size_t)(p - raw), n);
}

int main(int argc, char **argv)
{
	static const uint8_t name[] = {1, 1, 'x', 0}, track[] = {1, 1, 1, 0, 0, 0},
			     code[] = {1, 1, 'x', 1, 'x'}, frame[] = {0, 1, 1};
	const char *kind = argc == 4 ? argv[1] : "";
	const size_t cnt = argc == 4 ? strtoul(argv[2], NULL, 10) / 16 : 0;

	if (!*kind)
		return 2;
	begin(argv[3]);
	text_chunk(META, "{\"process\": {\"pid\": 1, \"comm\": \"x\"}}");
	memcpy(raw, "\1\1\1\1x\0", 6);
	chunk(NAMES, 6, 0);
	memcpy(raw, "\1\1\1\1\1\0\0\0", 8);
	chunk(TRACKS, 8, 0);
	if (!strcmp(kind, "highest")) {
		highest(NAMES, 1u << 22, name, sizeof(name));
		highest(TRACKS, 1u << 20, track, sizeof(track));
		highest(CODE, 1u << 20, code, sizeof(code));
		highest(FRAMES, 1u << 22, frame, sizeof(frame));
		put_events(SPAN, 1);
	}
	for (size_t i = 0; i < cnt; i++) {
		if (!strcmp(kind, "sched"))
			put_sched();
		else if (!strcmp(kind, "meta"))
			chunk(META, repeated("{\"a\":[", "{},", "]}"), 0);
		else if (!strcmp(kind, "spans"))
			for (int k = 0; k < 50; k++)
				put_events(SPAN, 1);
		else if (!strcmp(kind, "instants"))
			for (int k = 0; k < 50; k++)
				put_events(INSTANT, 0);
	}
	return fclose(out) != 0;
}
