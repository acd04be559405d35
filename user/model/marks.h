/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks show the phases of a step before these are put on its thread. Only for the model. */
#ifndef PROFTRACE_MARKS_H
#define PROFTRACE_MARKS_H

#include "model/model_internal.h"

/* A mark's category besides those of names: an operator of a compiled graph that belongs to the
 * forward pass by its full name. */
#define FORWARD_OP ((enum span_category)CAT_CNT)

/* For an optimizer's step that ran a closure: what follows its last backward pass. */
#define CLOSURE_UPDATE ((enum span_category)(CAT_CNT + 1))

/* Sorted by time; none is inside another. */
struct extents {
	struct extent {
		uint64_t begin, end;
	} *items;
	size_t cnt, cap;
};

/* Sorted by time. */
struct marks {
	struct mark {
		uint64_t begin, end;
		enum span_category cat;
		uint32_t operators; /* operators called since the mark before, not counting those
				       inside others */
		/* The mark is the zero_grad with which a closure runs again. The optimizer has the
		 * time between the mark before and this one. */
		bool behind_update;
		bool continued; /* of an update: an earlier part of it lies before this mark */
	} *items;
	size_t cnt, cap;
	uint32_t operators; /* operators since the latest mark */
	uint64_t operator_end_ns;
	bool has_forward, has_backward;
	uint64_t graph_ns; /* begin of the first compiled graph in any phase; 0: there was none */
	struct extents graphs; /* the outermost graphs */
	bool has_operators, has_updates;
	bool by_scope;	/* full names show which operators belong to the forward pass */
	bool others_backward; /* another thread shows a backward pass */
	bool elsewhere; /* the marks are of another thread, whose operators computed the
			   gradients */
	struct extents evaluations; /* runs of graphs for evaluation */
};

static inline bool mark__is_operator(enum span_category cat)
{
	return cat == CAT_OPTIMIZER_OP || cat == CAT_BACKWARD_NODE || cat == FORWARD_OP;
}

/* Collects the marks of t->roots into zeroed *k, and notes which optimizer steps ran a closure. If
 * the step's thread t only asked for a graph with gradients, uses the marks of the threads that
 * executed it. step NULL: no steps. Free *k, also on error. 0 or -ENOMEM. */
int marks__collect(const struct model *m, const struct track_state *t, const struct step *step,
		   struct marks *k);

void marks__free(struct marks *k);

#endif
