/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that lie in objects of the target: read once for each, and again as time goes by. What their
 * callers call them. */
#ifndef PROFTRACE_OBJECT_NAMES_H
#define PROFTRACE_OBJECT_NAMES_H

#include "bpf/probe_cfg.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct object_names;

struct object_names *object_names__new(void);
void object_names__free(struct object_names *n);

/* The string of the object at that address, owned by n until the next call; NULL: none can be read
 * there, or no memory. */
const char *object_names__text(struct object_names *n, pid_t pid, uint64_t address,
			       enum pt_name_source source);

/* What the object's caller calls it, of len bytes, which lies at text_at in the target; len 0: it has no
 * name for it. 0 or -ENOMEM. */
int object_names__note_full(struct object_names *n, pid_t pid, uint64_t address, const char *text,
			    size_t len, uint64_t text_at);
/* Is what the object is called still there? Asks again as time goes by. */
void object_names__look(struct object_names *n, pid_t pid, uint64_t address);
/* That name, as long as the object is still the one of which it was told: it is looked at, and its text
 * stays the same. Owned by n until the next call; NULL: none. *known: it was told whether there is one, or
 * of no object that it has one. */
const char *object_names__full(struct object_names *n, pid_t pid, uint64_t address,
			       const char *text, bool *known);

#endif
