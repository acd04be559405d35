/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The step of an optimizer is a function written in Python, even if the framework shows only its operators. We find
 * this function on the stack of one such operator. If an enclosing function calls something that can have a probe, that
 * probe shows the function's calls. Otherwise a data breakpoint shows them.
 *
 * The function becomes the optimizer phase if all update operators of the measured steps ran inside it. From then on
 * the operators are ordinary: they are pruned if they are not worth their probes.
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
	struct python_code *code; /* reads the code objects of functions; NULL: do not look for the function */
	unsigned int tries;
	uint64_t address;    /* of the function's code object; 0: not found */
	uint32_t outside_before; /* ctl.optimizer_outside when watching began */
	bool enclosing;	     /* a probe of an enclosing function shows the calls, not a data breakpoint */
	bool known;	     /* all operators that update parameters are called in the function */
	bool told;	     /* the function makes steps and phases, not the operators */
	bool tells_no_more;  /* the job no longer calls the function */
	bool *left_out;	     /* by row: operators not worth a probe while the function makes steps */
	enum probe_group steps_only_group; /* the operators' group while they make steps */
};

/* Plans the breakpoint; its address is found later. Plans nothing if the framework has no such functions or the
 * interpreter is unknown. Returns 0 or -ENOMEM / -ENOSPC. */
int optimizer_step__plan(struct session *s);
/* Gives the BPF programs the layout of Python's frames. */
void optimizer_step__plan_frames(struct session *s, const struct python_layout *layout);
/* Call after the programs are loaded. From then on an operator's stack may come. */
void optimizer_step__loaded(struct session *s);
/* The breakpoint of a function that is known without a search, in all threads. NULL: there is none. */
const struct planned_probe *optimizer_step__watched(const struct session *s);
/* Is the record of the ring the stack of an update operator? */
bool optimizer_step__is_stack(const void *data, size_t size);
int optimizer_step__take_stack(struct session *s, const void *data, size_t size);
/* Call after steps were measured. Of several functions that may be the optimizer's step, chooses the one that the job
 * calls. Returns 0 or a negative errno of attaching. */
int optimizer_step__choose(struct session *s);
/* Call before steps are measured. Watches the function if it was found. Returns 0 or a negative errno of reading the
 * ring or of attaching. */
int optimizer_step__watch(struct session *s);
/* Call after steps were measured. Decides whether all update operators ran inside the function. Returns 1 if more steps
 * must be measured; optimizer_step__watch() then watches in another way. Returns 0 or a negative errno of attaching
 * otherwise. */
int optimizer_step__weigh(struct session *s, uint64_t steps);
/* Is the probe's operator one that the function replaces for steps and phases? */
bool optimizer_step__holds(const struct session *s, const struct planned_probe *probe);
/* Remembers which of these operators are to be pruned, and shows them until the function makes steps. */
void optimizer_step__keep_choice(struct session *s);

/*
 * Chooses who makes steps and phases from now on: the function, if its probe or breakpoint is attached, or the
 * operators. Far from windows choose the operators, since the kernel may skip a breakpoint's program. Returns 0 or a
 * negative errno of attaching.
 */
int optimizer_step__set(struct session *s, bool told);
int optimizer_step__begin(struct session *s); /* lets the function make steps, if it is known */

void optimizer_step__free(struct session *s);

#endif
