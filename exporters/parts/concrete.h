/* SPDX-License-Identifier: BSD-2-Clause */
/* What an operator was given beside tensors, as torch.profiler writes it in "Concrete Inputs". */
#ifndef PROFTRACE_CONCRETE_H
#define PROFTRACE_CONCRETE_H

#include <stddef.h>
#include "recording/event_args.h"

#define CONCRETE_TEXT_MAX 512

/* "[2, 2]", "1", "0.5", "1.", "True"; empty for a tensor and for what is not known. Returns its
 * length. */
size_t concrete__text(const struct event_arg *a, char text[CONCRETE_TEXT_MAX]);

bool concrete__is_list(const struct event_arg *a);

#endif
