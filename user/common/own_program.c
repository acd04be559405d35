// SPDX-License-Identifier: BSD-2-Clause
#include "common/own_program.h"
#include <limits.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include "common/util.h"

#define SELF "/proc/self/exe"

/* The kernel loads the loader of a program to an address; there is none if the loader was run
 * itself. */
static bool is_run_by_loader(void)
{
	return getauxval(AT_BASE) == 0;
}

/* Of the file that the address is mapped from, in a line of /proc/self/maps; NULL: not this line.
 */
static const char *path_of(const char *line, uint64_t addr)
{
	uint64_t begin, end;

	if (sscanf(line, "%lx-%lx", &begin, &end) != 2 || addr < begin || addr >= end)
		return NULL;
	return strchr(line, '/');
}

static const char *mapped_path(void)
{
	static char path[PATH_MAX];
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	const char *found = NULL;

	if (!maps)
		return path;
	while (!found && fgets(line, sizeof(line), maps))
		found = path_of(line, (uint64_t)(uintptr_t)own_program__path);
	fclose(maps);
	if (found)
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(found, "\n"), found);
	return path;
}

const char *own_program__path(void)
{
	static const char *path;

	if (!path)
		path = is_run_by_loader() ? mapped_path() : SELF;
	return path[0] ? path : SELF;
}

void own_program__dir(char *dir, size_t size)
{
	const char *path = own_program__path();
	ssize_t len;
	char *slash;

	if (strcmp(path, SELF) == 0) {
		len = readlink(SELF, dir, size - 1);
		dir[len < 0 ? 0 : len] = '\0';
	} else {
		snprintf(dir, size, "%s", path);
	}
	slash = strrchr(dir, '/');
	dir[slash ? slash + 1 - dir : 0] = '\0';
}

void own_program__exec(char *const argv[])
{
	const char *loader_args[] = {argv[0], "--argv0", argv[0], own_program__path()};
	const size_t before = ARRAY_SIZE(loader_args);
	auto_free const char **args = NULL;
	size_t cnt = 0;

	if (!is_run_by_loader()) {
		execv(SELF, argv);
		return;
	}
	while (argv[cnt])
		cnt++;
	args = calloc(before + cnt,
		      sizeof(*args)); /* argv[0] is among those before; NULL behind the last */
	if (!args)
		return;
	memcpy(args, loader_args, sizeof(loader_args));
	memcpy(args + before, argv + 1, (cnt - 1) * sizeof(*args));
	execv(SELF, (char *const *)args);
}

void own_program__name_process(void)
{
	if (!is_run_by_loader())
		return;
	prctl(PR_SET_NAME, "proftrace");
	own_program__path(); /* while /proc can be read */
}
