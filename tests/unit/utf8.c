// SPDX-License-Identifier: BSD-2-Clause
#include "common/utf8.h"
#include <criterion/criterion.h>
#include <stdint.h>
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

Test(utf8, each_byte_of_no_character_is_escaped)
{
	expect_copy("\xff", "\\xff");
	expect_copy("a\xe8\xae", "a\\xe8\\xae");	  /* cut */
	expect_copy("\xc0\xaf", "\\xc0\\xaf");		  /* overlong */
	expect_copy("\xed\xa0\x80!", "\\xed\\xa0\\x80!"); /* a surrogate */
	expect_copy("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

Test(utf8, bytes_need_no_end)
{
	auto_free char *copy = utf8__copy("abc", 2);

	cr_expect_str_eq(copy, "ab");
}

Test(utf8, wide_characters_of_each_size)
{
	static const uint16_t two[] = {'a', 0xf6, 0x8bad, 0, 0xd800};
	static const uint32_t four[] = {0x1f680, 'b', 0x110000};
	auto_free char *of_one = utf8__of_wide("\xf6o", 2, 1);
	auto_free char *of_two = utf8__of_wide(two, 5, 2);
	auto_free char *of_four = utf8__of_wide(four, 3, 4);

	cr_expect_str_eq(of_one, "\xc3\xb6o");
	cr_expect_str_eq(of_two, "a\xc3\xb6\xe8\xae\xad \\u0000d800");
	cr_expect_str_eq(of_four, "\xf0\x9f\x9a\x80"
				  "b\\u00110000");
}
