/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One probe sees backward nodes of all types, or each type has its own probe (GROUP_NODE_TYPE). With the second way
 * some types can be pruned, but nodes of types outside the plan are not seen. So it is used only while steps are
 * measured, and if a type is pruned.
 */
#ifndef PROFTRACE_NODE_TYPES_H
#define PROFTRACE_NODE_TYPES_H

#include "capture/session.h"

/* Does the probe see nodes of every type, and can the probes of the types replace it? */
bool node_types__replaces(const struct session *s, const struct planned_probe *probe);
/* Marks the types' rows as shown or pruned; attaches nothing. */
void node_types__show(struct session *s, bool shown);
/* Call after rows were chosen in s->pruned.rows. Chooses one way and marks the changed groups. Returns true if only the
 * types' probes see nodes from now on. */
bool node_types__set(struct session *s, bool changed[GROUP_CNT]);

#endif
