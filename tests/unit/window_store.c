// SPDX-License-Identifier: BSD-2-Clause
/* Tests which recordings the monitor keeps. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/util.h"
#include "monitor/window_store.h"

static char place[] = "/tmp/window-store-XXXXXX";
static int dir = -1;

static void begin(void)
{
	cr_assert(mkdtemp(place));
	dir = window_store__open(place);
	cr_assert_geq(dir, 0);
}

static void end(void)
{
	DIR *entries = dir__entries(dir);
	const struct dirent *entry;

	while ((entry = readdir(entries)))
		unlinkat(dir, entry->d_name, 0);
	closedir(entries);
	close(dir);
	rmdir(place);
}

TestSuite(window_store, .init = begin, .fini = end);

/* age_s: since it was changed. */
static void make(const char *name, size_t bytes, long age_s)
{
	const int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	const struct timespec changed = {time(NULL) - age_s, 0}, times[] = {changed, changed};

	cr_assert_geq(fd, 0);
	cr_assert_eq(posix_fallocate(fd, 0, (off_t)bytes), 0);
	cr_assert_eq(futimens(fd, times), 0);
	close(fd);
}

static bool has(const char *name)
{
	return !faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

Test(window_store, a_recording_that_is_too_large_goes_at_once)
{
	make("a_1_6931d000.ptrec", 4096, 0);
	make("b_1_6931d000.ptrec", 8192, 0);
	cr_expect(window_store__take(dir, "a_1_6931d000.ptrec", 4096));
	cr_expect_not(window_store__take(dir, "b_1_6931d000.ptrec", 4096));
	cr_expect(has("a_1_6931d000.ptrec"));
	cr_expect_not(has("b_1_6931d000.ptrec"));
	cr_expect(window_store__take(dir, "gone", 4096));
}

Test(window_store, the_oldest_of_the_monitors_own_go)
{
	static const char *const strangers[] = {"mine.ptrec",		"host_4242.ptrec",
						"a_4242_run.ptrec",	"a_4242_6931d000.json",
						"_4242_6931d000.ptrec", "a_x_6931d000.ptrec",
						"4242_6931d000.ptrec"};

	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++)
		make(strangers[i], 1 << 20, 9000);
	make("a_1_6931d000.ptrec", 1 << 16, 3000);
	make("a.b_c_1_6931d000.12.ptrec", 1 << 16, 2000);
	make("a_1_6931d001.ptrec", 1 << 16, 1000);
	cr_expect_eq(window_store__keep(dir, 1 << 17), 1);
	cr_expect_not(has("a_1_6931d000.ptrec"));
	cr_expect_eq(window_store__keep(dir, 1 << 16), 1);
	cr_expect_not(has("a.b_c_1_6931d000.12.ptrec"));
	cr_expect(has("a_1_6931d001.ptrec"));
	cr_expect_eq(window_store__keep(dir, 0), 1);
	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++)
		cr_expect(has(strangers[i]), "%s", strangers[i]);
}

Test(window_store, another_users_files_stay)
{
	if (geteuid())
		cr_skip_test("needs root");
	unsetenv("SUDO_UID");
	make("a_1_6931d000.ptrec", 1 << 16, 3000);
	cr_assert_eq(fchownat(dir, "a_1_6931d000.ptrec", 12345, 12345, 0), 0);
	cr_expect_eq(window_store__keep(dir, 0), 0);
}

Test(window_store, new_ones_stay_unless_the_clock_was_set_back)
{
	make("a_1_6931d000.ptrec", 1 << 16, 10);
	make("a_1_6931d001.ptrec", 1 << 16, -100000);
	cr_expect_eq(window_store__keep(dir, 0), 1);
	cr_expect(has("a_1_6931d000.ptrec"));
	cr_expect_not(has("a_1_6931d001.ptrec"));
}

Test(window_store, room_is_looked_for)
{
	cr_expect(window_store__has_room(dir, 0));
	cr_expect_not(window_store__has_room(dir, UINT64_MAX));
}
