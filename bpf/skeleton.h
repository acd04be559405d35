/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The programs for the loader: the generated skeleton, and the types of its variables. */
#ifndef PROFTRACE_SKELETON_H
#define PROFTRACE_SKELETON_H

#include "ctl.h"
#include "sched_events.h"
/* needs the types above */
#include "bpf/proftrace.skel.h"

#endif
