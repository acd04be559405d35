// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include "common/bytes_text.h"

TestSuite(bytes_text);

Test(bytes_text, has_the_unit_that_suits)
{
	cr_expect_str_eq(bytes_text(0).s, "0 B");
	cr_expect_str_eq(bytes_text(999).s, "999 B");
	cr_expect_str_eq(bytes_text(1000).s, "1.0 kB");
	cr_expect_str_eq(bytes_text(49999).s, "50.0 kB");
	cr_expect_str_eq(bytes_text(999949).s, "999.9 kB");
	cr_expect_str_eq(bytes_text(999950).s, "1.0 MB");
	cr_expect_str_eq(bytes_text(12000000).s, "12.0 MB");
	cr_expect_str_eq(bytes_text(1300000000).s, "1.3 GB");
	cr_expect_str_eq(bytes_text(5000000000000).s, "5000.0 GB");
}
