/* SPDX-License-Identifier: BSD-2-Clause */
/* --token-file: its first line is what the monitor's requests to record must have. */
#ifndef PROFTRACE_TOKEN_FILE_H
#define PROFTRACE_TOKEN_FILE_H

/* *token: the caller frees it, also on error. 0, or a negative errno with err__set. */
int token_file__read(const char *path, char **token);
/* The same of a file that nobody but its owner can read or change, and whose owner is root or who we are. */
int token_file__read_secret(const char *path, char **token);

#endif
