/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of options, one "name = value" per line, as on a command line but without quotes. A line
 * that begins with # or ; is a comment. Root accepts a file of root, or of the user who called
 * sudo, if nobody else can write to it. */
#ifndef PROFTRACE_CONFIG_FILE_H
#define PROFTRACE_CONFIG_FILE_H

#include "cli/cli.h"

/* Sets the options of a command. The file may have the command's name in brackets above them. The
 * values point into *text; the caller frees it when they are no longer used. 0, or a negative errno
 * with err__set, which names the line. */
int config_file__read(const char *path, const struct command *cmd, void *base, char **text);

#endif
