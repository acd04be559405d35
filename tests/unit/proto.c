// SPDX-License-Identifier: BSD-2-Clause
#include "common/proto.h"
#include <criterion/criterion.h>
#include <stdlib.h>

static void expect_bytes(const struct proto *p, const char *want, size_t len)
{
	cr_assert_eq(p->len, len, "%zu bytes", p->len);
	cr_expect_arr_eq(p->buf, want, len);
}

/* The examples of the encoding's specification. */
Test(proto, fields)
{
	struct proto p = {0};
	size_t at;

	proto__varint(&p, 1, 150);
	expect_bytes(&p, "\x08\x96\x01", 3);
	p.len = 0;
	proto__string(&p, 2, "testing");
	expect_bytes(&p, "\x12\x07testing", 9);
	p.len = 0;
	at = proto__begin(&p, 3);
	proto__varint(&p, 1, 150);
	proto__end(&p, at);
	expect_bytes(&p, "\x1a\x03\x08\x96\x01", 5);
	p.len = 0;
	proto__varint(&p, 1, (uint64_t)-2);
	expect_bytes(&p, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	p.len = 0;
	proto__double(&p, 16, 1.0);
	expect_bytes(&p, "\x81\x01\0\0\0\0\0\0\xf0\x3f", 10);
	proto__free(&p);
}

Test(proto, a_long_message_in_a_message)
{
	static const size_t lens[] = {0, 126, 127, 128, 16383, 16384, 100000};
	struct proto p = {0};

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		char *text = calloc(1, lens[i] + 1);
		size_t outer, inner, at = 1, len = 0;

		memset(text, 'x', lens[i]);
		p.len = 0;
		outer = proto__begin(&p, 1);
		inner = proto__begin(&p, 2);
		proto__string(&p, 3, text);
		proto__end(&p, inner);
		proto__end(&p, outer);
		cr_assert_eq(p.err, 0);
		for (int shift = 0; at < p.len; shift += 7) {
			len |= (size_t)(p.buf[at] & 0x7f) << shift;
			if (!(p.buf[at++] & 0x80))
				break;
		}
		cr_expect_eq(at + len, p.len, "length of %zu bytes", lens[i]);
		cr_expect_eq(p.buf[at], 0x12);
		cr_expect_arr_eq(p.buf + p.len - lens[i], text, lens[i]);
		free(text);
	}
	proto__free(&p);
}
