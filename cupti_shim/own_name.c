// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loader lists each library with the path from which it was loaded. Ours may be the path of a
 * descriptor. When that is closed, the path means another file, and a different one in each
 * process. A debugger that looks for our symbols could then read from a pipe for ever, while the
 * program is stopped.
 */
#include "cupti_shim/segments.h"
#include "cupti_shim/shim.h"

static const char name[] = "libproftrace"; /* not longer than the shortest such path */

struct own {
	uintptr_t address; /* of ours */
	char *path;
};

static int find(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	struct own *own = ctx;

	(void)bytes;
	if (!segments__hold(info, PT_LOAD, own->address, 1))
		return 0;
	own->path = (char *)(uintptr_t)info->dlpi_name;
	return 1;
}

void own_name__set(void)
{
	static const char descriptor[] = "/proc/self/";
	struct own own = {.address = (uintptr_t)name};

	if (dl_iterate_phdr(find, &own) && own.path &&
	    !strncmp(own.path, descriptor, strlen(descriptor)) && strlen(own.path) >= strlen(name))
		memcpy(own.path, name, sizeof(name));
}
