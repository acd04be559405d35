// SPDX-License-Identifier: BSD-2-Clause
#include "cli/token_file.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"

#define TOKEN_MAX 4096

/* Printable ASCII without blanks, because it becomes part of a header line. */
static bool is_token(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

int token_file__read(const char *path, char **token)
{
	bool is_cut;

	*token = file__read_up_to(path, TOKEN_MAX, NULL, &is_cut);
	if (!*token)
		return err__set(-errno, MESSAGE_TOKEN_UNREADABLE, path, strerror(errno));
	(*token)[strcspn(*token, "\r\n")] = '\0';
	if (is_token(*token) && !is_cut)
		return 0;
	return err__set(-EINVAL, MESSAGE_TOKEN_INVALID, path, TOKEN_MAX);
}

int token_file__read_secret(const char *path, char **token)
{
	struct stat st;

	*token = NULL;
	if (stat(path, &st))
		return err__set(-errno, MESSAGE_TOKEN_UNREADABLE, path, strerror(errno));
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & 077)
		return err__set(-EPERM, MESSAGE_TOKEN_READABLE_BY_OTHERS, path);
	return token_file__read(path, token);
}
