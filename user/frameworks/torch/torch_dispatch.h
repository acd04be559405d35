/* SPDX-License-Identifier: BSD-2-Clause */
/* PyTorch's --detail inner: every call through the dispatcher, typed and boxed. */
#ifndef PROFTRACE_FRAMEWORKS_TORCH_DISPATCH_H
#define PROFTRACE_FRAMEWORKS_TORCH_DISPATCH_H

#include "frameworks/probe_table.h"

/* Adds probes for the dispatcher's functions in the libraries cpu and python of the scan's table.
 * Functions that are missing go to plan->missing. 0 or a negative errno. */
int torch_dispatch__plan(struct table_scan *s, unsigned int cpu, unsigned int python);

/* The kind of std::string in all libraries of the wheel, read from the plan's probe of ranges. */
enum pt_name_source torch_dispatch__string_abi(const struct probe_plan *plan);

#endif
