// SPDX-License-Identifier: BSD-2-Clause
#include "cli/token_file.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/util.h"

#define TOKEN_MAX 4096

/* Printable ASCII without blanks: a header line is made of it. */
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
		return err__set(-errno, "cannot read --token-file %s: %s", path, strerror(errno));
	(*token)[strcspn(*token, "\r\n")] = '\0';
	if (is_token(*token) && !is_cut)
		return 0;
	return err__set(-EINVAL,
			"--token-file %s: its first line is no token: give printable ASCII without "
			"blanks, and a file of at most %d bytes",
			path, TOKEN_MAX);
}

int token_file__read_secret(const char *path, char **token)
{
	struct stat st;

	*token = NULL;
	if (stat(path, &st))
		return err__set(-errno, "cannot read --token-file %s: %s", path, strerror(errno));
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & 077)
		return err__set(
			-EPERM,
			"--token-file %s: other users own it or can read it, and could ask for "
			"windows; chown root and chmod 600",
			path);
	return token_file__read(path, token);
}
