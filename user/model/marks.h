/* SPDX-License-Identifier: BSD-2-Clause */
/* What tells of the phases of a step, before they are laid over its thread; not a door. */
#ifndef PROFTRACE_MARKS_H
#define PROFTRACE_MARKS_H

#include "model/model_internal.h"

/* A mark's category beside those of names: an operator of a compiled graph that its full name shows
 * to be of the forward pass. */
#define FORWARD_OP ((enum span_category)CAT_CNT)

/* Of an optimizer's step that ran a closure: what follows its last backward pass. */
#define CLOSURE_UPDATE ((enum span_category)(CAT_CNT + 1))

/* In order of time, none in another. */
struct extents {
	struct extent {
		uint64_t begin, end;
	} *items;
	size_t cnt, cap;
};

/* In order of time. */
struct marks {
	struct mark {
		uint64_t begin, end;
		enum span_category cat;
		uint32_t operators; /* called since the mark before, those inside others not counted */
		/* Of the zero_grad with which a closure runs once more: what lies between the mark before
		 * and this one is the optimizer's. */
		bool behind_update;
		bool continued; /* of an update: parts of it lie before this one */
	} *items;
	size_t cnt, cap;
	uint32_t operators; /* since the latest mark */
	uint64_t operator_end_ns;
	bool has_forward, has_backward;
	uint64_t graph_ns; /* begin of the first compiled graph, in any phase; 0: none ran */
	struct extents graphs; /* the outermost ones */
	bool has_operators, has_updates;
	bool by_scope;	/* full names tell which operators are of the forward pass */
	bool others_backward; /* another thread shows a backward pass */
	bool elsewhere; /* operators of another thread computed the gradients: these are the marks */
	struct extents evaluations; /* runs of graphs that evaluate */
};

static inline bool mark__is_operator(enum span_category cat)
{
	return cat == CAT_OPTIMIZER_OP || cat == CAT_BACKWARD_NODE || cat == FORWARD_OP;
}

/* Marks of t->roots, into zeroed *k; notes which optimizer's steps ran a closure. Where the step's
 * thread, t, only asked for a graph that has gradients, those of the threads that executed it. step
 * NULL: no steps. Free *k, also on error. 0 or -ENOMEM. */
int marks__collect(const struct model *m, const struct track_state *t, const struct step *step,
		   struct marks *k);

void marks__free(struct marks *k);

#endif
