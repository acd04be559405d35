/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where to read a kernel's full name when the kernel is launched. A kernel knows only its type. But
 * its launcher keeps the graph's node in a register.
 */
#ifndef PROFTRACE_MINDSPORE_NAMES_H
#define PROFTRACE_MINDSPORE_NAMES_H

#include "frameworks/probe_table.h"

/* Fills plan->layout.full_name from the code of the libraries: `core` has the nodes, `launchers`
 * have the launches. The first launcher with the expected code counts. 0, also if none has it,
 * which is added to plan->missing; or -ENOMEM. */
int mindspore_names__plan(const struct table_scan *scan, unsigned int core,
			  const unsigned int *launchers, size_t launcher_cnt);

/* The offset in the node at which CNode::fullname_with_scope() keeps its name, read from its code.
 * -ENOENT: the code is different. */
int mindspore_names__offset(const uint8_t *code, size_t len);

#endif
