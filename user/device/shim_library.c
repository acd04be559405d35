// SPDX-License-Identifier: BSD-2-Clause
#include "device/shim_library.h"
#include "common/err.h"
#include "common/own_program.h"
#include "device/message_table.h"
#include "common/util.h"
#include <limits.h>
#include <string.h>

const char *shim_library__path(void)
{
	static const char *const places[] = {"", "../lib/proftrace/"};
	static char path[PATH_MAX];
	char own[PATH_MAX];

	own_program__dir(own, sizeof(own));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int n = snprintf(path, sizeof(path), "%s%s" SHIM_LIBRARY_NAME, own, places[i]);

		if (n < (int)sizeof(path) && !access(path, R_OK))
			return path;
	}
	err__set(-ENOENT, MESSAGE_SHIM_LIBRARY_MISSING, SHIM_LIBRARY_NAME, own, own, places[1]);
	return NULL;
}
