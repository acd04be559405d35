/* SPDX-License-Identifier: BSD-2-Clause */
/* Which classes of spans a probe of the step group shows. */
#ifndef PROFTRACE_STEP_PROBES_H
#define PROFTRACE_STEP_PROBES_H

#include "frameworks/framework.h"

/* Does the name of the probe's program begin with `program`? */
bool step_probe__runs(const struct planned_probe *probe, const char *program);
/* Do the probe's hits belong to no class that can make steps? */
bool step_probe__tells_none(const struct planned_probe *probe);
/* Is the function a phase, of a fixed class or of the class that its name says? */
bool step_probe__is_phase(const struct planned_probe *probe);
/* Does the probe show one of the classes (enum pt_name_class)? A probe with names shows a class in two cases: the class
 * has no probe of its own, or it is the class of names that match no rule. */
bool step_probe__shows(const struct probe_plan *plan, const struct planned_probe *probe,
		       const uint32_t *classes, size_t cnt);

#endif
