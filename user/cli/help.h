/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from the command and option tables: help on the terminal, man pages, completion. */
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

/* The error "unknown command", which names the nearest command: -EINVAL with err__set. */
int command__unknown(const char *name);

/* Prints the command's page, or with NULL proftrace.1, in man(7) macros. */
void man__print(const struct command *cmd, FILE *out);

/* Prints the completion script for shell "bash", "zsh" or "fish". -EINVAL with err__set for
 * another. */
int completion__print(const struct command *const *all, const char *shell, FILE *out);

#endif
