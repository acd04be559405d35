// SPDX-License-Identifier: BSD-2-Clause
/* Numbers of any length, with and without bytes after them, and bytes that are no number. */
#include <criterion/criterion.h>
#include "recording/format.h"

TestSuite(varint);

static void expect_same(uint64_t v, size_t behind)
{
	uint8_t bytes[VARINT_MAX_SIZE + 16];
	struct byte_reader r = {.p = bytes};
	uint64_t got = ~v;

	memset(bytes, 0xff, sizeof(bytes));
	const uint8_t *end = varint__put(bytes, v);

	r.end = end + behind;
	cr_assert(byte_reader__varint(&r, &got), "%llx, %zu", (unsigned long long)v, behind);
	cr_expect_eq(got, v, "%llx, not %llx", (unsigned long long)got, (unsigned long long)v);
	cr_expect_eq(r.p, end);
	r = (struct byte_reader){bytes, end - 1};
	cr_expect_not(byte_reader__varint(&r, &got), "%llx cut off", (unsigned long long)v);
}

Test(varint, each_length_comes_back_wherever_it_ends)
{
	for (size_t behind = 0; behind <= 12; behind++)
		for (unsigned int bits = 0; bits < 64; bits++) {
			const uint64_t edge = UINT64_C(1) << bits;

			expect_same(edge, behind);
			expect_same(edge - 1, behind);
			expect_same(edge | 0x5a5a5a5a5a5a5a5a % edge, behind);
		}
	expect_same(UINT64_MAX, 0);
	expect_same(UINT64_MAX, 12);
}

Test(varint, more_than_64_bits_are_none)
{
	uint8_t bytes[16];
	struct byte_reader r = {bytes, bytes + sizeof(bytes)};
	uint64_t got;

	memset(bytes, 0xff, sizeof(bytes));
	cr_expect_not(byte_reader__varint(&r, &got));
	memset(bytes, 0xff, sizeof(bytes));
	bytes[9] = 2;
	r.p = bytes;
	cr_expect_not(byte_reader__varint(&r, &got), "bit 64");
}
