/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that the target calls through pointers in its data (methods of Python, virtual
 * functions). If our library is in the target anyhow, it sees their calls, at a fraction of a
 * probe's cost. It must see as many calls of each as a probe saw, or the probe stays.
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
		size_t probe; /* in the plan: its calls are those of the function */
		bool reached; /* there are pointers to it */
	} *functions; /* by number */
	size_t cnt;
	bool *hooked;	 /* by row: the library sees its calls */
	bool in_the_way; /* of probes, until it sets its pointers again */
	bool lost;	 /* it had left before the window ended */
};

/* Why the library shall see none, as a clause; NULL: it may, and that is worth while. */
const char *pointer_hooks__why_not(const struct session *s);
/* Before the library records for the first time: which functions, and where their pointers are.
 * None where the probes add so little that it is not worth while, or need more than a time and a
 * name. 0 or -ENOMEM. */
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
/* Its calls go by the row's name, of whatever type the object is. */
bool pointer_hooks__has_name(const struct session *s, uint32_t function);
void pointer_hooks__free(struct session *s);

/* ---- for pointer_hook_check.c ---- */

/* Its probe does no more than tell of a name and two times. */
bool pointer_hooks__is_candidate(const struct session *s, const struct planned_probe *probe);
/* Calls of one are told as those of the other: by a name, or by a row of many. */
bool pointer_hooks__is_same(const struct planned_probe *a, const struct planned_probe *b);
/* The probe that sees the function's calls if the library does not. */
const struct planned_probe *pointer_hooks__probe(const struct session *s, size_t function);
/* The library sees none, and what it was to see it forgets. */
int pointer_hooks__see_nothing(struct session *s);
/* The probes of what the library does not see. */
int pointer_hooks__reattach(struct session *s);
/* Where it sees backward passes, too: they have no probe from here on. */
int pointer_hooks__leave_passes(struct session *s);

#endif
