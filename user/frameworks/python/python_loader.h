/* SPDX-License-Identifier: BSD-2-Clause */
/* Data loaders that are a class written in Python, whose __iter__ hands on each batch. */
#ifndef PROFTRACE_PYTHON_LOADER_H
#define PROFTRACE_PYTHON_LOADER_H

#include "frameworks/framework.h"

struct python_loader_class {
	const char *module, *class;
	const char *iter; /* the generator: `for batch in batches: yield batch` */
	const char *name; /* what tables call an ask for a batch */
};

/* An interpreter runs that has not got as far as to define the class. */
bool python_loader__is_to_come(struct target *t, const struct python_loader_class *class);

/* Plans data breakpoints on the generator's loop. If that cannot be done though the module is
 * loaded, adds the reason to the plan's missing. 0 or -ENOMEM / -ENOSPC. */
int python_loader__plan(struct target *t, const struct python_loader_class *class,
		      struct probe_plan *plan);

#endif
