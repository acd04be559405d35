/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of Python (--with-stack) for people: which stack a span has, and the text of its
 * frames. */
#ifndef PROFTRACE_CALL_STACK_H
#define PROFTRACE_CALL_STACK_H

#include "model/model.h"

/* The stack that called a span: its own, else that of the operator around it. Device work has the
 * stack of the launching call. Returns the id of the innermost frame. 0: no stack was read, or the
 * span is a backward node or inside one. No line calls a node, see forward_ops.h. */
uint32_t span__stack(const struct recording *r, const struct span *s);

/* Frames to draw around an event, from the outermost inwards. Frames that also belong to the stack
 * `base` (0: none) are left out, because they are drawn already. A range has none, because its
 * stack is that of the code that makes ranges. Returns their number, at most CALL_STACK_MAX. */
#define CALL_STACK_MAX 128
size_t event__frames(const struct recording *r, const struct event *e, uint32_t base,
		     uint32_t frames[CALL_STACK_MAX]);

struct call_stacks;

/* *out is NULL if the recording has no stacks; the other functions accept that. 0 or -ENOMEM. */
int call_stacks__open(const struct recording *r, struct call_stacks **out);
void call_stacks__free(struct call_stacks *c);

/* A path as the PyTorch profiler prints it: without the directory in which Python found it
 * (packages, the standard library, the program's directory). */
const char *call_stacks__path(const struct call_stacks *c, const char *path);

/* The text of one frame: "train.py(41): forward". 0 or -ENOMEM; the caller frees *text. */
int call_stacks__frame(const struct call_stacks *c, uint32_t frame, char **text);

/* Frames from the innermost outwards, at most `depth` (0: all), each followed by `sep`, or
 * separated by it. The caller frees; NULL: out of memory. Empty for stack 0. */
char *call_stacks__text(const struct call_stacks *c, uint32_t stack, unsigned int depth,
			const char *sep, bool sep_behind_last);

/* The line of the user's code that a stack comes from, "train.py:41". It is that of the innermost
 * frame outside of packages and the standard library, else of the innermost frame. False: there is
 * none. */
bool call_stacks__place(const struct call_stacks *c, uint32_t stack, char *out, size_t size);

#endif
