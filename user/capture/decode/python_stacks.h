/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of Python: which spans get one, and frames of the target into frames of a recording. */
#ifndef PROFTRACE_PYTHON_STACKS_H
#define PROFTRACE_PYTHON_STACKS_H

#include "frameworks/framework.h"
#include "recording/recording.h"

struct python_stacks;

/* Adds to the plan what the programs need to read stacks (layout.stacks, cfg.stack). Where they
 * cannot be read *out is NULL, and the plan says why. 0 or -ENOMEM. */
int python_stacks__plan(struct target *t, struct probe_plan *plan, struct python_stacks **out);
/* Which of the probes that were added since get one. */
void python_stacks__choose(struct probe_plan *plan, size_t from);
void python_stacks__free(struct python_stacks *s);

/* Reads the functions of a stack while the process has them. 0 or -ENOMEM. */
int python_stacks__put(struct python_stacks *s, const struct pt_rec_stack *r);

/* Id of the stack with this key in the recording, 0: it has not come, or no memory. */
uint32_t python_stacks__id(struct python_stacks *s, struct recording_writer *w, uint64_t key);
/* The next ids are those of another recording. */
void python_stacks__forget_ids(struct python_stacks *s);

/* Frames whose function could not be read. */
uint64_t python_stacks__unread(const struct python_stacks *s);

#endif
