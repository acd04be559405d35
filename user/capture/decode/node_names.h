/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of objects by their C++ type: read from each process once per type. */
#ifndef PROFTRACE_NODE_NAMES_H
#define PROFTRACE_NODE_NAMES_H

#include "frameworks/framework.h"
#include "recording/recording.h"

struct node_names;

struct node_names *node_names__new(const struct target *t, const struct framework *framework);
void node_names__free(struct node_names *n);
void node_names__forget_ids(struct node_names *n); /* a new writer begins */

/* The type's name id in w, 0 on error. A vtable and a type object of Python (0: none) in the process
 * identify the type. A type whose name cannot be read any more is named by its vtable's address. */
uint32_t node_names__id(struct node_names *n, struct recording_writer *w,
			enum span_category category, uint32_t pid, uint64_t vtable,
			uint64_t type_obj);
/* The same as text, without a language-level type; owned by n, NULL on error. */
const char *node_names__text(struct node_names *n, uint32_t pid, uint64_t vtable);

#endif
