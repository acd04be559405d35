/* SPDX-License-Identifier: BSD-2-Clause */
/* Sees the calls of CUDA by probes, if CUPTI cannot or may not be used. Does nothing if CUPTI is used. */
#ifndef PROFTRACE_DEVICE_CALLS_H
#define PROFTRACE_DEVICE_CALLS_H

#include "capture/session.h"

/* Plans the libraries that the process has loaded. Call before the programs are loaded. */
int device_calls__plan(struct session *s);

#endif
