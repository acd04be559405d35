/* SPDX-License-Identifier: BSD-2-Clause */
/* Data loaders that are Python classes, whose __iter__ passes on each batch. */
#ifndef PROFTRACE_PYTHON_LOADER_H
#define PROFTRACE_PYTHON_LOADER_H

#include "frameworks/framework.h"

struct python_loader_class {
	const char *module, *class;
	const char *iter; /* the generator: `for batch in batches: yield batch` */
	const char *name; /* name in tables of a request for a batch */
};

/* Does an interpreter run that has not defined the class yet? */
bool python_loader__is_to_come(struct target *t, const struct python_loader_class *class);

/* Plans data breakpoints on the generator's loop. If that is impossible although the module is
 * loaded, adds the reason to plan->missing. 0 or -ENOMEM / -ENOSPC. */
int python_loader__plan(struct target *t, const struct python_loader_class *class,
		      struct probe_plan *plan);

#endif
