/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks of Python in an event's args, as Kineto writes them: "Call stack". */
#ifndef PROFTRACE_CHROME_STACKS_H
#define PROFTRACE_CHROME_STACKS_H

#include "exporters/parts/text_file.h"
#include "model/call_stack.h"

struct chrome_stacks {
	struct call_stacks *stacks; /* NULL: the recording has none */
	char **quoted;		    /* by id of the innermost frame; NULL: not made yet */
	uint32_t cnt;
};

int chrome_stacks__make(const struct recording *r, struct chrome_stacks *out);
void chrome_stacks__free(struct chrome_stacks *s);
/* Writes `"Call stack":"model.py(41): forward;train.py(90): <module>;",`, and nothing for stack 0.
 * 0 or -ENOMEM. */
int chrome_stacks__put(struct chrome_stacks *s, struct text_file *out, uint32_t stack);

#endif
