/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_IDENTITY_H
#define PROFTRACE_IDENTITY_H

#include <stdbool.h>

/*
 * Gives up root permanently. The process becomes the user who called sudo (SUDO_UID), or the user
 * of --owner. If root itself called it, it becomes user 65534 (nobody), who owns no files. It gets
 * no supplementary groups: files come as open descriptors, so groups would only add rights. Does
 * nothing for other users. False: this user namespace does not have that user, and the process
 * stays root.
 */
bool identity__give_up_root(void);

#endif
