// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <stdlib.h>
#include "target/symbol_ranges.h"

#define MOST 3000

static void check_sorted(uint64_t mask, unsigned int seed)
{
	static struct symbol_range ranges[MOST];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < MOST; i++) {
		const uint64_t random = (uint64_t)rand_r(&seed) << 40 ^
					(uint64_t)rand_r(&seed) << 20 ^ (uint64_t)rand_r(&seed);

		ranges[i] = (struct symbol_range){random & mask, 0, i};
		sum += ranges[i].vaddr;
	}
	cr_assert_eq(symbol_ranges__sort(ranges, MOST), 0);
	for (uint32_t i = 0; i < MOST; i++) {
		sum -= ranges[i].vaddr;
		cr_assert(!i || ranges[i - 1].vaddr < ranges[i].vaddr ||
			  (ranges[i - 1].vaddr == ranges[i].vaddr &&
			   ranges[i - 1].idx < ranges[i].idx));
	}
	cr_expect_eq(sum, 0);
}

Test(symbol_ranges, by_address_and_then_as_they_came)
{
	check_sorted(UINT64_MAX, 1);
	check_sorted(0xfffff, 2);
	check_sorted(0x3f, 3); /* many of one address */
	check_sorted(0xff00000000000000, 4);
	check_sorted(0, 5);
	cr_expect_eq(symbol_ranges__sort(NULL, 0), 0);
}
