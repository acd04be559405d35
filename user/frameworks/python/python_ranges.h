/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges that are objects of a Python class. */
#ifndef PROFTRACE_PYTHON_RANGES_H
#define PROFTRACE_PYTHON_RANGES_H

#include "frameworks/framework.h"

struct python_range_class {
	const char *module, *class;
	const char *begin, *end;   /* methods; running one is the event */
	const char *name;	 /* attribute with the range's name, which begin reads */
};

/* Plans data breakpoints on the first instructions of the methods. If that is impossible, adds the
 * reason to plan->missing. 0 or -ENOMEM / -ENOSPC. */
int python_ranges__plan(struct target *t, const struct python_range_class *class,
			struct probe_plan *plan);

#endif
