/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private mappings of files that another user may truncate meanwhile. A page that is gone reads as
 * zeros, and the mapping is marked as torn, instead of the signal that would end proftrace.
 */
#ifndef PROFTRACE_MAPPED_H
#define PROFTRACE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped;

/* Maps `size` bytes of the file, readable and writable (a copy of our own), with a byte of zero
 * behind them. 0 or a negative errno. */
int mapped__open(int fd, size_t size, struct mapped **out);
/* Watches over a mapping of the caller's, of whole pages, which stays his. Threads that read it must not
 * block SIGBUS. */
int mapped__guard(void *data, size_t size, struct mapped **out);
uint8_t *mapped__data(const struct mapped *m);
/* A page of it was gone when it was read: what was read since is not to be trusted. */
bool mapped__is_torn(const struct mapped *m);
/* Gives the memory back: what is read later comes from the file again, and what was written is lost. Does
 * nothing with the caller's own. */
void mapped__drop(struct mapped *m);
void mapped__close(struct mapped *m); /* NULL is allowed */

#endif
