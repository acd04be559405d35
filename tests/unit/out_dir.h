/* SPDX-License-Identifier: BSD-2-Clause */
/* root's directory where proftrace writes, with a neighbour's directory in it. */
#ifndef PROFTRACE_TEST_OUT_DIR_H
#define PROFTRACE_TEST_OUT_DIR_H

#include <criterion/criterion.h>
#include <sys/stat.h>
#include "common/out_file.h"
#include "common/util.h"

#define NOBODY 65534

static char dir[] = "/tmp/proftrace-out.XXXXXX";
static char path[128];

static inline void setup(void)
{
	cr_assert(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/theirs", dir);
	cr_assert(!mkdir(path, 0755) && !chmod(path, 0755) && !chmod(dir, 0755));
	if (!geteuid())
		cr_assert_eq(chown(path, NOBODY, NOBODY), 0);
}

static inline void teardown(void)
{
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	cr_expect_eq(system(path), 0);
}

static inline const char *in(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static inline void put(const char *name, const char *text)
{
	FILE *f = fopen(in(name), "w");

	cr_assert(f != NULL);
	fputs(text, f);
	fclose(f);
}

static inline bool holds(const char *name, const char *text)
{
	size_t len;
	auto_free char *have = file__read(in(name), &len);

	return have && !strcmp(have, text);
}

static inline int write_to(const char *name, enum out_mode mode, const char *text)
{
	struct out_file f;
	int err = out_file__open(&f, in(name), mode);

	if (err)
		return err;
	cr_assert_eq(write(f.fd, text, strlen(text)), (ssize_t)strlen(text));
	return out_file__publish(&f);
}

static inline void link_to(const char *name, const char *target)
{
	cr_assert_eq(symlink(target, in(name)), 0);
	if (!geteuid())
		cr_assert_eq(lchown(path, NOBODY, NOBODY), 0);
}

static inline void move_to(const char *from, const char *to)
{
	auto_free char *before = strdup(in(from));

	cr_assert_eq(rename(before, in(to)), 0);
}

static inline void call_sudo(const char *uid)
{
	if (geteuid())
		cr_skip_test("needs root");
	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", uid, 1);
}

static inline void end_sudo(void)
{
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

#endif
