/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the programs may open a window. */
#ifndef PROFTRACE_MAY_OPEN_H
#define PROFTRACE_MAY_OPEN_H

#include "capture/session.h"

/* Allows or forbids windows: a window waits for its probes and for the library in the target. */
void arm__set_open(struct session *s);
/* Does a window wait for our library? Not if it refuses, or another tool owns CUPTI. */
bool arm__needs_library(const struct session *s);

#endif
