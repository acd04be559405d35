// SPDX-License-Identifier: BSD-2-Clause
#include "common/directory.h"
#include "common/err.h"
#include "common/message_table.h"
#include "common/out_file.h"
#include <errno.h>
#include <string.h>

int directory__make(const char *path)
{
	const size_t len = path ? strlen(path) : 0;

	int err = len && path[len - 1] == '/' ? out_file__make_directory(path) : 0;
	const char *why = out_file__explain(err);

	if (!err || err == -EEXIST)
		return 0;
	if (!why)
		why = strerror(-err);
	return err == -ENOENT ? err__set(err, MESSAGE_DIRECTORY_PARENT_MISSING, path, why, path)
			      : err__set(err, MESSAGE_DIRECTORY_NOT_MADE, path, why);
}
