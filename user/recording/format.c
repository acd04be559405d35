// SPDX-License-Identifier: BSD-2-Clause
#include "recording/format.h"
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

static void put16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint32_t crc(const uint8_t *p, size_t len)
{
	return (uint32_t)crc32(0, p, (uInt)len);
}

void file_header__pack(uint8_t out[FILE_HEADER_SIZE])
{
	memset(out, 0, FILE_HEADER_SIZE);
	memcpy(out, FILE_MAGIC, FILE_MAGIC_SIZE);
	put16(out + 8, FORMAT_MAJOR);
	put16(out + 10, FORMAT_MINOR);
	put32(out + 12, FILE_ORDER_MARK);
	put32(out + 20, crc(out, 20));
}

int file_header__unpack(const uint8_t in[FILE_HEADER_SIZE], struct file_version *v)
{
	if (memcmp(in, FILE_MAGIC, FILE_MAGIC_SIZE) != 0)
		return -EINVAL;
	if (get32(in + 20) != crc(in, 20))
		return -EBADMSG;
	if (get32(in + 12) != FILE_ORDER_MARK)
		return -EINVAL;
	v->major = get16(in + 8);
	v->minor = get16(in + 10);
	return 0;
}

void chunk_header__pack(const struct chunk_header *h, uint8_t out[CHUNK_HEADER_SIZE])
{
	put32(out, CHUNK_SYNC);
	out[4] = h->type;
	out[5] = h->flags;
	put16(out + 6, 0);
	put32(out + 8, h->seq);
	put32(out + 12, h->stored_len);
	put32(out + 16, h->raw_len);
	put32(out + 20, h->event_cnt);
	put32(out + 24, h->payload_crc);
	put32(out + 28, crc(out, 28));
}

bool chunk_header__unpack(const uint8_t in[CHUNK_HEADER_SIZE], struct chunk_header *h)
{
	if (get32(in) != CHUNK_SYNC || get32(in + 28) != crc(in, 28))
		return false;
	h->type = in[4];
	h->flags = in[5];
	h->seq = get32(in + 8);
	h->stored_len = get32(in + 12);
	h->raw_len = get32(in + 16);
	h->event_cnt = get32(in + 20);
	h->payload_crc = get32(in + 24);
	return h->raw_len <= CHUNK_RAW_MAX && h->stored_len <= CHUNK_RAW_MAX &&
	       h->raw_len <= (uint64_t)h->stored_len * CHUNK_RATIO_MAX &&
	       h->event_cnt <= h->raw_len && h->event_cnt <= CHUNK_EVENTS_MAX;
}

bool byte_reader__varint_slow(struct byte_reader *r, uint64_t *v)
{
	uint64_t sum = 0;

	for (unsigned int shift = 0; shift < 64 && r->p != r->end; shift += 7) {
		uint8_t byte = *r->p++;

		if (shift == 63 && byte > 1)
			return false;
		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*v = sum;
			return true;
		}
	}
	return false;
}

bool byte_reader__bytes(struct byte_reader *r, uint32_t max, const uint8_t **data, uint32_t *len)
{
	if (!byte_reader__u32(r, len) || *len > max || *len > (size_t)(r->end - r->p))
		return false;
	*data = r->p;
	r->p += *len;
	return true;
}
