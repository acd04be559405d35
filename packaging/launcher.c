// SPDX-License-Identifier: BSD-2-Clause
/*
 * bin/proftrace of the tarball and of the wheel. It is linked statically, and becomes
 * ../lib/proftrace/proftrace with the C library beside that: the machine may have an older glibc, a
 * newer one, musl or none.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[PATH_MAX]; /* with the last slash */

static char *below(const char *name)
{
	char *path;

	return asprintf(&path, "%s../lib/proftrace/%s", dir, name) < 0 ? NULL : path;
}

int main(int argc, char **argv)
{
	const ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	char **args = calloc((size_t)argc + 5, sizeof(*args));
	char *slash = len > 0 ? strrchr(dir, '/') : NULL, *loader, *program;

	if (!slash || !args) {
		fprintf(stderr, "proftrace: error: /proc/self/exe cannot be read: mount /proc\n");
		return 1;
	}
	slash[1] = '\0';
	loader = below("ld.so");
	program = below("proftrace");
	if (!loader || !program)
		return 1;
	args[0] = loader;
	args[1] = "--argv0";
	args[2] = argc ? argv[0] : "proftrace";
	args[3] = program;
	for (int i = 1; i < argc; i++)
		args[3 + i] = argv[i];
	execv(loader, args);
	fprintf(stderr, "proftrace: error: cannot run %s: %s: unpack the whole archive again\n",
		loader, strerror(errno));
	return 1;
}
