// SPDX-License-Identifier: BSD-2-Clause
/* A file of options must mean what it seems to mean, or be refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/config_file.h"
#include "common/err.h"

TestSuite(config_file);

struct set {
	const char *name;
	uint64_t size;
};

static const struct opt opts[] = {
	{OPT_STRING, "name", 0, "NAME", "", offsetof(struct set, name)},
	{OPT_UINT, "size", 0, "N", "", offsetof(struct set, size)},
	{OPT_END},
};

static const struct command cmd = {.name = "monitor", .opts = opts};

/* text: of so many bytes. `why` is kept until the next call. */
static int read_as(const char *text, size_t len, mode_t mode, uid_t uid, struct set *set,
		   char **kept, const char **why)
{
	char path[] = "/tmp/config-file-XXXXXX";
	const int fd = mkstemp(path);
	int err;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, len), (ssize_t)len);
	fchmod(fd, mode);
	if (uid != geteuid() && fchown(fd, uid, 0))
		cr_skip_test("needs root");
	close(fd);
	*kept = NULL;
	err = config_file__read(path, &cmd, set, kept);
	*why = err ? err__take(err) : "";
	unlink(path);
	return err;
}

static void expect_refused(const char *text, size_t len, mode_t mode, uid_t uid,
			   const char *because)
{
	struct set set = {0};
	char *kept;
	const char *why;

	cr_expect_lt(read_as(text, len, mode, uid, &set, &kept, &why), 0, "%s", text);
	cr_expect(strstr(why, because), "%s: %s", text, why);
	free(kept);
}

Test(config_file, sets_options)
{
	static const char text[] = "# a comment\n[monitor]\nname = a#b;c \"d\"\n; more\n size=7\n";
	struct set set = {0};
	char *kept;
	const char *why;

	cr_assert_eq(read_as(text, strlen(text), 0644, geteuid(), &set, &kept, &why), 0, "%s", why);
	cr_expect_str_eq(set.name, "a#b;c \"d\"");
	cr_expect_eq(set.size, 7);
	free(kept);
}

Test(config_file, refuses_what_others_take_for_a_comment_or_quotes)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"name = a # b", "a line of its own"},
		{"name = a\t; b", "a line of its own"},
		{"name = \"a\"", "quotes"},
		{"name = 'a'", "quotes"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		expect_refused(bad[i].text, strlen(bad[i].text), 0600, geteuid(), bad[i].why);
}

Test(config_file, a_file_with_nul_bytes_is_damaged)
{
	expect_refused("size = 7\n\0\0\0", 12, 0600, geteuid(), "NUL");
	expect_refused("\0", 1, 0600, geteuid(), "NUL");
}

Test(config_file, root_obeys_no_file_that_others_may_change)
{
	if (geteuid())
		cr_skip_test("needs root");
	unsetenv("SUDO_UID");
	expect_refused("size = 7\n", 9, 0664, 0, "another user");
	expect_refused("size = 7\n", 9, 0602, 0, "another user");
	expect_refused("size = 7\n", 9, 0600, 12345, "another user");
}

Test(config_file, a_message_quotes_no_secret)
{
	static const char *const lines[] = {"root:$y$hash:2::", "root:$y$hash=2", "[root:hash]"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct set set = {0};
		char *kept;
		const char *why;

		cr_expect_lt(
			read_as(lines[i], strlen(lines[i]), 0600, geteuid(), &set, &kept, &why), 0);
		cr_expect_not(strstr(why, "hash"), "%s", why);
		free(kept);
	}
}
