// SPDX-License-Identifier: BSD-2-Clause
#include "cli/window_path.h"
#include <criterion/criterion.h>
#include "chrome_sample.h"
#include "common/util.h"

static void expect(int window, const char *given, const char *want)
{
	struct recording *r;
	struct made s;
	char path[64];

	made__begin(&s, json_pack("{s:{s:i}}", "window", "index", window));
	made__close(&s);
	cr_assert_eq(recording__open(s.path, &r), 0);
	cr_expect_str_eq(window_path__of(r, given, path, sizeof(path)), want);
	recording__close(r);
	made__remove(&s);
}

Test(window_path, windows_after_the_first_have_a_number)
{
	static const struct {
		const char *given, *want;
	} cases[] = {
		{"y.json.gz", "y.2.json.gz"},
		{"/tmp/y.json", "/tmp/y.2.json"},
		{"y.pt.trace.json.gz", "y.2.pt.trace.json.gz"},
		{"a.b/y", "a.b/y.2"},
		{"run.1.txt", "run.1.2.txt"},
		{".json", ".json.2"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		expect(2, cases[i].given, cases[i].want);
		expect(0, cases[i].given, cases[i].given);
	}
}

Test(window_path, what_is_no_file_stays)
{
	static const char *const cases[] = {"-", "/tmp", "/tmp/none/", "/dev/null"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect(2, cases[i], cases[i]);
}

Test(window_path, what_is_too_long_is_refused)
{
	struct recording *r;
	struct made s;
	char path[8];

	made__begin(&s, json_pack("{s:{s:i}}", "window", "index", 1));
	made__close(&s);
	cr_assert_eq(recording__open(s.path, &r), 0);
	cr_expect_null(window_path__of(r, "abc.json", path, sizeof(path)));
	cr_expect_null(window_path__of(r, NULL, path, sizeof(path)));
	recording__close(r);
	made__remove(&s);
}
