/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of Python: chooses the spans that get one, and turns frames of the target into frames of a recording. */
#ifndef PROFTRACE_PYTHON_STACKS_H
#define PROFTRACE_PYTHON_STACKS_H

#include "frameworks/framework.h"
#include "recording/recording.h"

struct python_stacks;

/* Adds to the plan what the programs need to read stacks (layout.stacks, cfg.stack). If stacks cannot be read, *out is
 * NULL, and the plan names the reason. Returns 0 or -ENOMEM. */
int python_stacks__plan(struct target *t, struct probe_plan *plan, struct python_stacks **out);
/* Chooses which of the probes from number `from` on get a stack. */
void python_stacks__choose(struct probe_plan *plan, size_t from);
void python_stacks__free(struct python_stacks *s);

/* Reads the functions of a stack while the process still has them. Returns 0 or -ENOMEM. */
int python_stacks__put(struct python_stacks *s, const struct pt_rec_stack *r);

/* Id of the stack with this key in the recording; 0: the stack has not come, or no memory. */
uint32_t python_stacks__id(struct python_stacks *s, struct recording_writer *w, uint64_t key);
/* Call when another recording begins: ids are then new. */
void python_stacks__forget_ids(struct python_stacks *s);

/* Frames whose function could not be read. */
uint64_t python_stacks__unread(const struct python_stacks *s);

#endif
