// SPDX-License-Identifier: BSD-2-Clause
/* https://protobuf.dev/programming-guides/encoding */
#include "common/proto.h"
#include "common/util.h"

#define VARINT_MAX 10

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void proto__free(struct proto *p)
{
	free(p->buf);
	*p = (struct proto){0};
}

/* Makes room for len more bytes. NULL: out of memory. */
static unsigned char *room(struct proto *p, size_t len)
{
	unsigned char *grown;
	size_t cap = p->cap ? p->cap : 4096;

	if (p->cap - p->len >= len)
		return p->buf + p->len;
	while (cap - p->len < len)
		cap *= 2;
	grown = realloc(p->buf, cap);
	if (!grown) {
		p->err = -ENOMEM;
		return NULL;
	}
	p->buf = grown;
	p->cap = cap;
	return p->buf + p->len;
}

static unsigned char *put_varint(unsigned char *at, uint64_t v)
{
	while (v >= 0x80) {
		*at++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*at++ = (unsigned char)v;
	return at;
}

void proto__raw_varint(struct proto *p, uint64_t v)
{
	unsigned char *at = room(p, VARINT_MAX);

	if (at)
		p->len = (size_t)(put_varint(at, v) - p->buf);
}

static unsigned char *put_tag(struct proto *p, uint32_t field, enum wire_type type, size_t len)
{
	unsigned char *at = room(p, VARINT_MAX + len);

	return at ? put_varint(at, (uint64_t)field << 3 | type) : NULL;
}

void proto__varint(struct proto *p, uint32_t field, uint64_t v)
{
	unsigned char *at = put_tag(p, field, WIRE_VARINT, VARINT_MAX);

	if (at)
		p->len = (size_t)(put_varint(at, v) - p->buf);
}

void proto__fixed64(struct proto *p, uint32_t field, uint64_t v)
{
	unsigned char *at = put_tag(p, field, WIRE_FIXED64, sizeof(v));

	if (!at)
		return;
	for (size_t i = 0; i < sizeof(v); i++)
		*at++ = (unsigned char)(v >> 8 * i);
	p->len = (size_t)(at - p->buf);
}

void proto__double(struct proto *p, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	proto__fixed64(p, field, bits);
}

void proto__bytes(struct proto *p, uint32_t field, const void *data, size_t len)
{
	unsigned char *at = put_tag(p, field, WIRE_BYTES, VARINT_MAX + len);

	if (!at)
		return;
	at = put_varint(at, len);
	memcpy(at, data, len);
	p->len = (size_t)(at - p->buf) + len;
}

/* Leaves one byte for the length. A longer length moves the message. */
size_t proto__begin(struct proto *p, uint32_t field)
{
	unsigned char *at = put_tag(p, field, WIRE_BYTES, 1);

	if (at)
		p->len = (size_t)(at - p->buf) + 1;
	return p->len;
}

void proto__end(struct proto *p, size_t at)
{
	const size_t len = p->len - at;
	unsigned char digits[VARINT_MAX];
	const size_t more = (size_t)(put_varint(digits, len) - digits) - 1;

	if (p->err || !room(p, more))
		return;
	if (more)
		memmove(p->buf + at + more, p->buf + at, len);
	memcpy(p->buf + at - 1, digits, more + 1);
	p->len += more;
}
