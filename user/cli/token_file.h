/* SPDX-License-Identifier: BSD-2-Clause */
/* --token-file: its first line is the token that requests to record must have. */
#ifndef PROFTRACE_TOKEN_FILE_H
#define PROFTRACE_TOKEN_FILE_H

/* Sets *token, which the caller frees, also on error. 0, or a negative errno with err__set. */
int token_file__read(const char *path, char **token);
/* The same, for a file that only its owner can read or change. The owner must be root or our
 * user. */
int token_file__read_secret(const char *path, char **token);

#endif
