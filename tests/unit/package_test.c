// SPDX-License-Identifier: BSD-2-Clause
/* A package's version must be that of the process's files, not of files that replaced them. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "common/util.h"
#include "frameworks/package.h"

static char dir[] = "/tmp/package-XXXXXX", file[64], library[64];
static pid_t child;

static void write_version(const char *text)
{
	FILE *f = fopen(file, "w");

	cr_assert_not_null(f);
	fprintf(f, "__version__ = '%s'\n", text);
	fclose(f);
}

/* A package, and then a process that is a little younger. */
static struct target *begin(void)
{
	struct target *t;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/version.py", dir);
	snprintf(library, sizeof(library), "%s/lib.so", dir);
	write_version("1.2");
	usleep(20000);
	child = fork();
	if (!child)
		_exit(pause());
	usleep(150000);
	cr_assert_eq(target__open(child, &t), 0);
	return t;
}

static void end(struct target *t)
{
	target__close(t);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(file);
	rmdir(dir);
}

static const char *version_of(const struct target *t, bool deleted, char *out, size_t size)
{
	const struct target_lib lib = {.path = library, .deleted = deleted};

	return package__text(t, &lib, 1, "version.py", "__version__", out, size);
}

Test(package, its_version_is_that_of_its_file)
{
	struct target *t = begin();
	char version[32];

	cr_expect_null(version_of(t, false, version, sizeof(version)));
	cr_expect_str_eq(version, "1.2");
	end(t);
}

Test(package, that_was_replaced_after_the_process_started_has_no_known_version)
{
	struct target *t = begin();
	char version[32];
	const char *why;

	unlink(file);
	write_version("1.3");
	why = version_of(t, false, version, sizeof(version));
	cr_expect_str_eq(version, "");
	cr_assert_not_null(why);
	cr_expect_not_null(strstr(why, "replaced"));
	end(t);
}

Test(package, of_a_library_that_was_replaced_has_no_known_version)
{
	struct target *t = begin();
	char version[32];

	cr_expect_not_null(version_of(t, true, version, sizeof(version)));
	cr_expect_str_eq(version, "");
	end(t);
}
