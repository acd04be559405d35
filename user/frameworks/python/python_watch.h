/* SPDX-License-Identifier: BSD-2-Clause */
/* Data breakpoints on instructions of a Python class. Such a class calls no C function that could
 * have a probe. */
#ifndef PROFTRACE_PYTHON_WATCH_H
#define PROFTRACE_PYTHON_WATCH_H

#include "frameworks/framework.h"
#include "target/python/python_objects.h"

struct python_watch {
	const char *module, *class;
	struct python_objects o;
	bool absent;   /* the module is not loaded */
	uint64_t dict; /* of the class; 0: the class is missing */
};

/* Finds the class in the process. Returns why it was not found, as static text, or NULL. */
const char *python_watch__open(struct target *t, const char *module, const char *class,
			       struct python_watch *w);

/* The code object of a method. 0: there is no such method in Python. */
uint64_t python_watch__code(const struct python_watch *w, const char *method);

/* Notes in the plan that something is not recorded, for a reason of python_watch__open() or
 * another. */
int python_watch__missing(const struct target *t, const char *why, const char *what,
			  struct probe_plan *plan);

/* Sets where the programs find the code that a thread runs. */
void python_watch__layout(const struct python_watch *w, struct probe_plan *plan);

/* Plans a breakpoint on a method's instruction, `offset` bytes after its first one. Reading it runs
 * probe->program. Of *probe it takes program, category, name and row (0: a new row). */
int python_watch__add(const struct python_watch *w, const char *method, uint64_t code,
		      uint32_t offset, const struct planned_probe *probe, struct probe_plan *plan);

#define OPTIMIZER_STEP_PROGRAM	 "optimizer_step"
#define OPTIMIZER_ENCLOSING_PROGRAM "optimizer_enclosing" /* of GROUP_ENCLOSING */

/* Plans a breakpoint on the reference count of the code object of an optimizer's step. It shows
 * where calls of the step begin and end. lib: the interpreter. code 0: not found yet. name_class:
 * of the steps that these calls show. told_by: see planned_probe. */
int python_watch__add_optimizer_step(const struct target_lib *lib, const char *name, uint64_t code,
				     uint32_t name_class, const char *told_by,
				     struct probe_plan *plan);

#endif
