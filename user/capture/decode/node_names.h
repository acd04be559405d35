/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of objects by their C++ type: read from each process once per type. */
#ifndef PROFTRACE_NODE_NAMES_H
#define PROFTRACE_NODE_NAMES_H

#include "frameworks/framework.h"
#include "recording/recording.h"

struct node_names;

struct node_names *node_names__new(const struct target *t, const struct framework *framework);
void node_names__free(struct node_names *n);
void node_names__forget_ids(struct node_names *n); /* call when a new writer begins */

/* The id of the type's name in w; 0: an error. A vtable and a type object of Python (0: none) identify the type in the
 * process. If the name cannot be read any more, the vtable's address is the name. */
uint32_t node_names__id(struct node_names *n, struct recording_writer *w,
			enum span_category category, uint32_t pid, uint64_t vtable,
			uint64_t type_obj);
/* The name as text, without a type object of Python. n owns it; NULL: an error. */
const char *node_names__text(struct node_names *n, uint32_t pid, uint64_t vtable);

#endif
