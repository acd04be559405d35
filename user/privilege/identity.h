/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_IDENTITY_H
#define PROFTRACE_IDENTITY_H

#include <stdbool.h>

/*
 * Gives up root for good: becomes who called sudo (SUDO_UID), or who --owner names; called by root
 * itself, user 65534 (nobody), who owns no files. No supplementary groups: files come as open descriptors, so
 * groups would only open more. Does nothing for other users. false: this user name space lacks
 * that user, and the process stays root.
 */
bool identity__give_up_root(void);

#endif
