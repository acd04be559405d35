/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of Python (--with-stack) for people: whose stack a span has, and how its frames read. */
#ifndef PROFTRACE_CALL_STACK_H
#define PROFTRACE_CALL_STACK_H

#include "model/model.h"

/* The stack that called a span: its own, else that of the operator around it. For work of a device:
 * that of the call that launched it. Id of its innermost frame, 0: none was read, or it is a
 * backward node's or in one: those are called by no line, see forward_ops.h. */
uint32_t span__stack(const struct recording *r, const struct span *s);

/* Frames to draw around an event, from the outermost inwards. Those of its stack that also belong
 * to stack `base` (0: none) are left out: they are drawn already. None of a range, whose
 * stack is that of the code that makes ranges. How many, at most CALL_STACK_MAX. */
#define CALL_STACK_MAX 128
size_t event__frames(const struct recording *r, const struct event *e, uint32_t base,
		     uint32_t frames[CALL_STACK_MAX]);

struct call_stacks;

/* *out is NULL where the recording has no stacks; the others take that for one. 0 or -ENOMEM. */
int call_stacks__open(const struct recording *r, struct call_stacks **out);
void call_stacks__free(struct call_stacks *c);

/* A path as the PyTorch profiler prints it: without the directory that Python finds it by (packages,
 * the standard library, the directory of the program). */
const char *call_stacks__path(const struct call_stacks *c, const char *path);

/* "train.py(41): forward", of one frame. 0 or -ENOMEM; the caller frees *text. */
int call_stacks__frame(const struct call_stacks *c, uint32_t frame, char **text);

/* Frames from the innermost outwards, at most `depth` (0: all), each followed by `sep`, or with a
 * `sep` between them. The caller frees; NULL: out of memory. Empty for 0. */
char *call_stacks__text(const struct call_stacks *c, uint32_t stack, unsigned int depth,
			const char *sep, bool sep_behind_last);

/* The line of the user's own code that a stack comes from, "train.py:41". It is that of the
 * innermost frame outside of packages and the standard library, else of the innermost frame. False:
 * none. */
bool call_stacks__place(const struct call_stacks *c, uint32_t stack, char *out, size_t size);

#endif
