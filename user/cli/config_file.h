/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of options: a line "name = value" each, as on a command line but without quotes. # and ; at the
 * begin of a line make it a comment. Root takes one of root, or of who called sudo, that nobody else can
 * write to. */
#ifndef PROFTRACE_CONFIG_FILE_H
#define PROFTRACE_CONFIG_FILE_H

#include "cli/cli.h"

/* Sets options of a command, whose name may stand in brackets above them. *text is what the values
 * point into: freed by the caller after they were used. 0, or a negative errno with err__set, which
 * names the line. */
int config_file__read(const char *path, const struct command *cmd, void *base, char **text);

#endif
