/* SPDX-License-Identifier: BSD-2-Clause */
/* --owner, for all commands that write files. */
#ifndef PROFTRACE_OWNER_H
#define PROFTRACE_OWNER_H

/* "USER" or "USER:GROUP", as names or numbers: the owner of new files. 0, or -EINVAL with
 * err__set. */
int owner__parse(const char *value, void *unused);

#define OWNER_OPT                                                                                  \
	{OPT_CUSTOM, "owner", 0, "USER[:GROUP]",                                                   \
	 "Owner of the files (default: the user who called sudo, else the user who runs "          \
	 "proftrace). Needs root.",                                                                \
	 0, .parse = owner__parse}

#endif
