// SPDX-License-Identifier: BSD-2-Clause
/* Names that are longer than the ring's records: their text is whole, and different ones stay
 * different. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/events.h"
#include "capture/decode/long_names.h"

TestSuite(long_names);

/* Works without a BPF map: the text that is put is found. */
static struct long_names *put(uint64_t key, const struct pt_long_name *row)
{
	struct long_names *n = long_names__new(-1, 0, NULL);

	cr_assert(n);
	cr_assert_eq(long_names__put(n, key, row), 0);
	return n;
}

static void expect_text(const struct pt_long_name *row, const char *wanted, bool is_cut)
{
	struct long_names *n = put(8, row);
	const struct long_name *name = long_names__at(n, 8);

	cr_assert(name);
	cr_expect_str_eq(name->text, wanted);
	cr_expect_eq(name->is_cut, is_cut);
	long_names__free(n);
}

Test(long_names, what_the_programs_read_as_text)
{
	static const uint16_t wide[] = {0x8bad, 0x7ec3, 'x'};
	struct pt_long_name row = {.len = 3, .text = "abcdef"};

	expect_text(&row, "abc", false);
	row.domain_len = 2;
	expect_text(&row, "ab::cde", false);
	row = (struct pt_long_name){.len = sizeof(wide), .kind = 2, .is_cut = 1};
	memcpy(row.text, wide, sizeof(wide));
	expect_text(&row, "\u8bad\u7ec3x", true);
}

Test(long_names, the_longest_of_both_are_whole)
{
	struct pt_long_name row = {.domain_len = PT_WHOLE_DOMAIN, .len = PT_WHOLE_NAME};
	struct long_names *n;
	const char *text;

	memset(row.text, 'd', PT_WHOLE_DOMAIN);
	memset(row.text + PT_WHOLE_DOMAIN, 'n', PT_WHOLE_NAME);
	n = put(9, &row);
	text = long_names__at(n, 9)->text;
	cr_expect_eq(strlen(text), PT_WHOLE_DOMAIN + 2 + PT_WHOLE_NAME);
	cr_expect_eq(strspn(text, "d"), PT_WHOLE_DOMAIN);
	cr_expect_eq(strspn(text + PT_WHOLE_DOMAIN + 2, "n"), PT_WHOLE_NAME);
	long_names__free(n);
}

Test(long_names, lengths_beyond_the_row_are_not_believed)
{
	struct pt_long_name row = {.domain_len = UINT32_MAX, .len = UINT32_MAX};
	struct long_names *n;

	memset(row.text, 'x', sizeof(row.text));
	n = put(9, &row);
	cr_expect_eq(strlen(long_names__at(n, 9)->text), PT_WHOLE_DOMAIN + 2 + PT_WHOLE_NAME);
	long_names__free(n);
}

Test(long_names, of_names_without_end_the_latest_are_kept)
{
	struct pt_long_name row = {.len = 1, .text = "x"};
	struct long_names *n = put(PT_KEY_FIRST, &row);
	const uint64_t last = PT_KEY_FIRST + 20 * PT_LONG_NAMES;

	for (uint64_t key = PT_KEY_FIRST + 1; key <= last; key++)
		cr_assert_eq(long_names__put(n, key, &row), 0);
	cr_expect_null(long_names__at(n, PT_KEY_FIRST));
	cr_expect(long_names__at(n, last));
	long_names__free(n);
}
