// SPDX-License-Identifier: BSD-2-Clause
#include "device/shim_library.h"
#include "common/err.h"
#include "device/message_table.h"
#include "common/util.h"
#include <limits.h>
#include <string.h>

const char *shim_library__path(void)
{
	static const char *const places[] = {"", "../lib/proftrace/"};
	static char path[PATH_MAX];
	char own[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	if (len < 0)
		len = 0;
	own[len] = '\0';
	slash = strrchr(own, '/');
	if (slash)
		slash[1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int n = snprintf(path, sizeof(path), "%s%s" SHIM_LIBRARY_NAME, own, places[i]);

		if (n < (int)sizeof(path) && !access(path, R_OK))
			return path;
	}
	err__set(-ENOENT, MESSAGE_SHIM_LIBRARY_MISSING, SHIM_LIBRARY_NAME, own, own, places[1]);
	return NULL;
}
