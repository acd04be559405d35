/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An optimizer that shows as operators, one for each parameter, is a function written in Python,
 * too. It is found on the stack of such an operator. If an enclosing function there calls something
 * that can have a probe, that probe shows its calls. Otherwise a data breakpoint does. Once all
 * operators of the measured steps lay in it, it is the phase. The operators are then ordinary:
 * pruned if they are not worth their probes.
 */
#ifndef PROFTRACE_OPTIMIZER_STEP_H
#define PROFTRACE_OPTIMIZER_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frameworks/framework.h"
#include "target/python/python_layout.h"

struct python_code;
struct session;

struct optimizer_step {
	struct python_code *code; /* to read functions by; NULL: none is looked for */
	unsigned int tries;
	uint64_t address;    /* of its code object; 0: not found */
	uint32_t outside_before; /* ctl.optimizer_outside when it was last watched */
	bool enclosing;	     /* what is around it tells, and no data breakpoint */
	bool known;	     /* all operators that update parameters are called in it */
	bool told;	     /* it makes steps and phases, and not they */
	bool tells_no_more;  /* the job does not call it any more */
	bool *left_out;	     /* by row: those not worth a probe while it does */
	enum probe_group steps_only_group; /* of them where it does not */
};

/* Plans the breakpoint, its address to be found, where the framework has such functions and the
 * interpreter is known. 0 or -ENOMEM / -ENOSPC. */
int optimizer_step__plan(struct session *s);
/* The programs read Python's frames. */
void optimizer_step__plan_frames(struct session *s, const struct python_layout *layout);
/* The programs are loaded: an operator's stack may come. */
void optimizer_step__loaded(struct session *s);
/* The breakpoint of a function that is known without looking for it, in all threads; NULL: there is
 * none. */
const struct planned_probe *optimizer_step__watched(const struct session *s);
/* That it is in the ring. */
bool optimizer_step__is_stack(const void *data, size_t size);
int optimizer_step__take_stack(struct session *s, const void *data, size_t size);
/* Steps were measured: of several functions that may be it, the job's is looked at from here on. 0 or a
 * negative errno of attaching. */
int optimizer_step__choose(struct session *s);
/* Steps are going to be measured: looks at the function if it was found. 0 or a negative errno of
 * reading the ring or of attaching. */
int optimizer_step__watch(struct session *s);
/* They were: is it the one in which all of them are called? 1: that is not known yet, and more must be
 * measured: optimizer_step__watch() looks at it in another way. 0 or a negative errno of attaching. */
int optimizer_step__weigh(struct session *s, uint64_t steps);
/* Is the probe one of an operator that need not make steps and phases, as the function does? */
bool optimizer_step__holds(const struct session *s, const struct planned_probe *probe);
/* Of these, what was chosen to be left out is kept until it takes effect. */
void optimizer_step__keep_choice(struct session *s);

/*
 * Who makes steps and phases from here on: the function, with its probe or breakpoint in place, or the
 * operators. Far from windows it is they: the kernel may skip a breakpoint's program. 0 or a negative
 * errno of attaching.
 */
int optimizer_step__set(struct session *s, bool told);
int optimizer_step__begin(struct session *s); /* it does, where it is known */

void optimizer_step__free(struct session *s);

#endif
