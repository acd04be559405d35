/* SPDX-License-Identifier: BSD-2-Clause */
/* Text made from the command and option tables: help for the terminal, the man page, completion. */
#ifndef PROFTRACE_HELP_H
#define PROFTRACE_HELP_H

#include "cli/cli.h"

/* Help of one command, or, for the default command (name NULL), of the whole program and all its
 * commands. width: terminal columns, 0 for 80. */
void help__print(const struct command *const *all, const struct command *cmd, FILE *out, int width,
		 bool colours);

const struct command *const *commands__all(void); /* NULL-terminated */

/* The command of that name, NULL if there is none; the default command for NULL. */
const struct command *command__find(const char *name);

/* "unknown command": -EINVAL with err__set, naming the nearest command. */
int command__unknown(const char *name);

/* The command's page, or for NULL proftrace.1, in man(7) macros. */
void man__print(const struct command *cmd, FILE *out);

/* The completion script for shell "bash", "zsh" or "fish"; -EINVAL with err__set for another. */
int completion__print(const struct command *const *all, const char *shell, FILE *out);

#endif
