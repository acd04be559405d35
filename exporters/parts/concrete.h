/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of an operator other than tensors, as in torch.profiler's "Concrete Inputs". */
#ifndef PROFTRACE_CONCRETE_H
#define PROFTRACE_CONCRETE_H

#include <stddef.h>
#include "recording/event_args.h"

#define CONCRETE_TEXT_MAX 512

/* For example "[2, 2]", "1", "0.5", "1.", "True". Empty for a tensor, and for an unknown value.
 * Returns the length. */
size_t concrete__text(const struct event_arg *a, char text[CONCRETE_TEXT_MAX]);

bool concrete__is_list(const struct event_arg *a);

#endif
