/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target calls some functions through pointers in its data (methods of Python, virtual functions). If our library
 * is in the target, pointer hooks see these calls at a fraction of a probe's cost. For each function the library must
 * see as many calls as a probe saw. Otherwise the probe stays.
 */
#ifndef PROFTRACE_POINTER_HOOKS_H
#define PROFTRACE_POINTER_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frameworks/framework.h"

struct session;

/* Functions called through pointers. */
struct pointer_hooks {
	struct {
		size_t probe; /* index in the plan of the probe of its calls */
		bool reached; /* pointers to the function exist */
	} *functions; /* by number */
	size_t cnt;
	bool *hooked;	 /* by row: the library sees the calls */
	bool in_the_way; /* hooks hinder probes until the library sets its pointers again */
	bool lost;	 /* the library had left before the window ended */
};

/* Why the library shall see no functions, as a clause. NULL: hooks are possible and worth it. */
const char *pointer_hooks__why_not(const struct session *s);
/* Call before the library first records. Chooses the functions and finds their pointers. Chooses none if the probes
 * cost too little to matter, or record more than times and names. Returns 0 or -ENOMEM. */
int pointer_hooks__choose(struct session *s);
/* While the library records: compares hooks and probes for some steps, then removes the probes that hooks
 * replace. */
int pointer_hooks__check(struct session *s);
/* Between windows: attaches the probes again if the library no longer records. */
int pointer_hooks__poll(struct session *s);
/* Call before the library is asked to stop: remembers whether it recorded up to the window's end. */
void pointer_hooks__window_close(struct session *s);
/* The row of the probe table that a function's calls belong to. */
uint32_t pointer_hooks__row(const struct session *s, uint32_t function);
/* Do the function's calls have the row's name, whatever the type of the object? */
bool pointer_hooks__has_name(const struct session *s, uint32_t function);
void pointer_hooks__free(struct session *s);

/* ---- for pointer_hook_check.c ---- */

/* Does the probe record only a name and two times, so that a hook can replace it? */
bool pointer_hooks__is_candidate(const struct session *s, const struct planned_probe *probe);
/* Do the calls of both appear under the same name, or have the same row? */
bool pointer_hooks__is_same(const struct planned_probe *a, const struct planned_probe *b);
/* The probe that sees the function's calls if the library does not. */
const struct planned_probe *pointer_hooks__probe(const struct session *s, size_t function);
/* The library sees no functions any more and forgets the list. */
int pointer_hooks__see_nothing(struct session *s);
/* Attaches the probes of functions that the library does not see. */
int pointer_hooks__reattach(struct session *s);
/* If the library sees backward passes, removes their probes from here on. */
int pointer_hooks__leave_passes(struct session *s);

#endif
