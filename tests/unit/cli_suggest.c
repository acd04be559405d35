// SPDX-License-Identifier: BSD-2-Clause
#include "cli/help.h"
#include "common/suggest.h"
#include "common/err.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

static const char *nearest(const char *word)
{
	static const char *const names[] = {"record",	 "report",    "run", "export",
					    "sorted-by", "row-limit", NULL};
	struct suggestion s = {.word = word, .len = strlen(word)};

	for (const char *const *n = names; *n; n++)
		suggest__offer(&s, *n);
	return s.best ? s.best : "(none)";
}

Test(cli_suggest, misspellings_find_the_nearest_name)
{
	cr_expect(eq(str, (char *)nearest("reprot"), "report"));
	cr_expect(eq(str, (char *)nearest("recrod"), "record"));
	cr_expect(eq(str, (char *)nearest("exprot"), "export"));
	cr_expect(eq(str, (char *)nearest("rnu"), "run"));
	cr_expect(eq(str, (char *)nearest("sortedby"), "sorted-by"));
	cr_expect(eq(str, (char *)nearest("row_limit"), "row-limit"));
}

Test(cli_suggest, a_beginning_beats_a_misspelling)
{
	cr_expect(eq(str, (char *)nearest("exp"), "export"));
	cr_expect(eq(str, (char *)nearest("sort"), "sorted-by"));
}

Test(cli_suggest, what_is_far_gets_no_suggestion)
{
	char longer[200];

	memset(longer, 'r', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	cr_expect(eq(str, (char *)nearest("zebra"), "(none)"));
	cr_expect(eq(str, (char *)nearest("x"), "(none)"));
	cr_expect(eq(str, (char *)nearest(""), "(none)"));
	cr_expect(eq(str, (char *)nearest(longer), "(none)"));
}

Test(cli_suggest, record_spells_the_default_command_out)
{
	cr_assert(command__find("record") == command__find(NULL));
	cr_assert(command__find("report") != command__find(NULL));
}

Test(cli_suggest, unknown_commands_say_what_to_type)
{
	static const struct {
		const char *name, *message;
	} cases[] = {
		{"completoin", "unknown command 'completoin'; did you mean completion?"},
		{"4242", "unknown command '4242'; to attach to a process say proftrace -p 4242"},
		{"attach", "unknown command 'attach'; to record say proftrace record -p PID "
			   "--record 2:10"},
		{"zebra", "unknown command 'zebra'; see proftrace --help"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect(eq(int, command__unknown(cases[i].name), -EINVAL));
		cr_expect(eq(str, (char *)err__take(-EINVAL), (char *)cases[i].message));
	}
}
