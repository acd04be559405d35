// SPDX-License-Identifier: BSD-2-Clause
#include "common/utf8.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

TestSuite(utf8);

static void expect_copy(const char *bytes, const char *wanted)
{
	auto_free char *copy = utf8__copy(bytes, strlen(bytes));

	cr_expect_str_eq(copy, wanted);
}

Test(utf8, text_is_kept)
{
	expect_copy("", "");
	expect_copy("aten::add", "aten::add");
	expect_copy("gr\xc3\xb6\xc3\x9f"
		    "e \xe8\xae\xad\xe7\xbb\x83 \xf0\x9f\x9a\x80",
		    "gr\xc3\xb6\xc3\x9f"
		    "e \xe8\xae\xad\xe7\xbb\x83 \xf0\x9f\x9a\x80");
}

Test(utf8, each_byte_of_no_character_is_replaced)
{
	expect_copy("\xff", "\xef\xbf\xbd");
	expect_copy("a\xe8\xae", "a\xef\xbf\xbd\xef\xbf\xbd"); /* cut, as the kernel cuts names */
	expect_copy("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");   /* overlong */
	expect_copy("\xed\xa0\x80!", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!"); /* a surrogate */
	expect_copy("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

Test(utf8, bytes_need_no_end)
{
	auto_free char *copy = utf8__copy("abc", 2);

	cr_expect_str_eq(copy, "ab");
}
