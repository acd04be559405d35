/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs on a terminal, until a key or a signal ends it. */
#ifndef PROFTRACE_TOP_SCREEN_H
#define PROFTRACE_TOP_SCREEN_H

#include <stdbool.h>
#include "top/gatherer.h"

/* 0, or a negative errno with err__set. */
int top_screen__run(const struct gather_opts *o, bool colours);

#endif
