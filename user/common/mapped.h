/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private mappings of files that another user may truncate at any time. A lost page then reads as
 * zeros, and the mapping is marked as torn. Otherwise a signal would end proftrace.
 */
#ifndef PROFTRACE_MAPPED_H
#define PROFTRACE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped;

/* Maps `size` bytes of the file, readable and writable (changes are private), followed by a zero
 * byte. 0 or a negative errno. */
int mapped__open(int fd, size_t size, struct mapped **out);
/* Protects the caller's own mapping, of whole pages, in the same way. Threads that read it must not
 * block SIGBUS. */
int mapped__guard(void *data, size_t size, struct mapped **out);
uint8_t *mapped__data(const struct mapped *m);
/* Was a page lost when it was read? Then do not trust what was read since. */
bool mapped__is_torn(const struct mapped *m);
/* Gives the memory back. Later reads come from the file again; writes are lost. Does nothing for
 * the caller's own mapping. */
void mapped__drop(struct mapped *m);
void mapped__close(struct mapped *m); /* NULL is allowed */

#endif
