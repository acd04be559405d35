// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loader's list of libraries has each by the path that it came from. Ours may be the path of a
 * descriptor. That is another file once the descriptor is closed, and another one in each process
 * that follows the path. A debugger that looks for our symbols could read from a pipe of its own
 * for ever, while the program stands still.
 */
#include "cupti_shim/segments.h"
#include "cupti_shim/shim.h"

static const char name[] = "libproftrace"; /* no longer than the shortest such path */

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
