/* SPDX-License-Identifier: BSD-2-Clause */
/* Which classes of spans a probe of the step group tells of. */
#ifndef PROFTRACE_STEP_PROBES_H
#define PROFTRACE_STEP_PROBES_H

#include "frameworks/framework.h"

/* By the begin of its program's name. */
bool step_probe__runs(const struct planned_probe *probe, const char *program);
/* Its hits are none of a class that steps are told by. */
bool step_probe__tells_none(const struct planned_probe *probe);
/* A function that is a phase, of one class or of that which its name says. */
bool step_probe__is_phase(const struct planned_probe *probe);
/* Does it tell of one of the classes (enum pt_name_class)? A probe with names does where no probe of
 * the class's own is there, or where the class is that of names no rule knows. */
bool step_probe__shows(const struct probe_plan *plan, const struct planned_probe *probe,
		       const uint32_t *classes, size_t cnt);

#endif
