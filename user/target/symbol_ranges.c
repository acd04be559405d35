// SPDX-License-Identifier: BSD-2-Clause
/* Radix sort, because a comparison sort of half a million symbols takes a tenth of a second. */
#include "target/symbol_ranges.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

static size_t digit_of(const struct symbol_range *range, unsigned int shift)
{
	return (range->vaddr >> shift) % DIGITS;
}

static void sort_by_digit(const struct symbol_range *from, struct symbol_range *to, size_t cnt,
			  unsigned int shift)
{
	size_t place[DIGITS] = {0}, before = 0;

	for (size_t i = 0; i < cnt; i++)
		place[digit_of(&from[i], shift)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		const size_t digit_cnt = place[i];

		place[i] = before;
		before += digit_cnt;
	}
	for (size_t i = 0; i < cnt; i++)
		to[place[digit_of(&from[i], shift)]++] = from[i];
}

int symbol_ranges__sort(struct symbol_range *ranges, size_t cnt)
{
	auto_free struct symbol_range *other = malloc((cnt ? cnt : 1) * sizeof(*other));
	struct symbol_range *from = ranges, *to = other;
	uint64_t bits = 0;

	if (!other)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		bits |= ranges[i].vaddr;
	for (unsigned int shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
		struct symbol_range *sorted = to;

		sort_by_digit(from, to, cnt, shift);
		to = from;
		from = sorted;
	}
	if (from != ranges)
		memcpy(ranges, from, cnt * sizeof(*ranges));
	return 0;
}
