/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Backward nodes are seen by one probe for all types, or by one for each type (GROUP_NODE_TYPE). In
 * the second way some types can be pruned, but types of libraries that the plan does not know are
 * not seen. So it is used only while steps are measured, and if a type is pruned.
 */
#ifndef PROFTRACE_NODE_TYPES_H
#define PROFTRACE_NODE_TYPES_H

#include "capture/session.h"

/* Whether the probe sees nodes of every type, and is one that the types' can replace. */
bool node_types__replaces(const struct session *s, const struct planned_probe *probe);
/* Marks the types' rows as shown or pruned; attaches nothing. */
void node_types__show(struct session *s, bool shown);
/* After some rows of s->pruned.rows were chosen: the one way or the other, and which groups that
 * changes. True: from now on only the types' probes see nodes. */
bool node_types__set(struct session *s, bool changed[GROUP_CNT]);

#endif
