/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the full name of a kernel can be read when it is launched. A kernel knows only its type.
 * But its launcher has the node of the graph in a register meanwhile.
 */
#ifndef PROFTRACE_MINDSPORE_NAMES_H
#define PROFTRACE_MINDSPORE_NAMES_H

#include "frameworks/probe_table.h"

/* Fills plan->layout.full_name from the code of the libraries: `core` has the nodes, `launchers`
 * launch; the first in which the code is as expected. 0, also where it is in none, which is added
 * to plan->missing; -ENOMEM. */
int mindspore_names__plan(const struct table_scan *scan, unsigned int core,
			  const unsigned int *launchers, size_t launcher_cnt);

/* Where CNode::fullname_with_scope() looks for the name that it made before, in the node: from its
 * code; -ENOENT: the code is another. */
int mindspore_names__offset(const uint8_t *code, size_t len);

#endif
