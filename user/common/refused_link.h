/* SPDX-License-Identifier: BSD-2-Clause */
/* The link that out_path.h refused last in the calling thread, for the message. */
#ifndef PROFTRACE_REFUSED_LINK_H
#define PROFTRACE_REFUSED_LINK_H

#include <stddef.h>

#define REFUSED_LINK_TEXT 1400 /* bytes, of the 2048 of a message (err.h) */

/* Remembers the link `name` in the directory. The descriptor may be of O_PATH. */
void refused_link__set(int dir, const char *name);
void refused_link__forget(void);
/* The link, why it was refused, and what to name instead. "": none was refused. */
const char *refused_link__text(void);
/* Takes the text from another process, which refused the link. */
void refused_link__take(const char *text);

#endif
