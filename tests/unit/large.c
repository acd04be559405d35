// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <stdint.h>
#include "common/large.h"

Test(large, is_zeroed_writable_and_on_a_huge_page)
{
	for (size_t bytes = 1; bytes < 9u << 20; bytes = bytes * 3 + 1) {
		uint64_t sum = 0;
		char *p = large__alloc(bytes, 1);

		cr_assert_not_null(p);
		cr_expect_eq((uintptr_t)p % (2u << 20), 0);
		for (size_t i = 0; i < bytes; i++)
			sum += (uint64_t)p[i]++;
		cr_expect_eq(sum, 0);
		large__free(p, bytes, 1);
	}
	large__free(NULL, 1, 1);
}
