// SPDX-License-Identifier: BSD-2-Clause
#include "common/directory.h"
#include "common/err.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int directory__make(const char *path)
{
	const size_t len = path ? strlen(path) : 0;

	if (!len || path[len - 1] != '/' || !mkdir(path, 0777) || errno == EEXIST)
		return 0;
	return err__set(-errno, "cannot make the directory %s: %s%s%s", path, strerror(errno),
			errno == ENOENT ? "; this does: mkdir -p " : "",
			errno == ENOENT ? path : "");
}
