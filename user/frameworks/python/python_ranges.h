/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges that are objects of a class written in Python. */
#ifndef PROFTRACE_PYTHON_RANGES_H
#define PROFTRACE_PYTHON_RANGES_H

#include "frameworks/framework.h"

struct python_range_class {
	const char *module, *class;
	const char *begin, *end;   /* methods; executing one is the event */
	const char *name;	 /* the attribute with the range's name, which begin uses */
};

/* Plans data breakpoints on the methods' first instruction; where that cannot be, says so among
 * what is missing. 0 or -ENOMEM / -ENOSPC. */
int python_ranges__plan(struct target *t, const struct python_range_class *class,
			struct probe_plan *plan);

#endif
