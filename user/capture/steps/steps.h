/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is a step? This decides it from what the process shows: data loader and optimizer, backward passes, else the
 * period of its operators. The best source comes first.
 */
#ifndef PROFTRACE_STEPS_H
#define PROFTRACE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/ctl.h"

struct rule_row;

struct step_rule {
	enum pt_name_class boundary; /* PT_CLASS_NONE: no rule yet */
	bool at_end;
	enum pt_name_class needs;   /* this class must have been seen since the last boundary */
	uint32_t row;		    /* the operator's row if the boundary is STEP_PROBE by an operator, else 0 */
	const char *source;	    /* short, for the report: "DataLoader" */
	const char *explain;	    /* the explanation in the report */
	const struct rule_row *why; /* NULL: the user chose the rule, or a period of operators made it */
};

/* What was seen of each class since the attach. */
struct step_evidence {
	const __u64 *seen;   /* by enum pt_name_class */
	uint64_t elapsed_ns; /* since events repeat: an event that comes once may belong to a long set-up */
	uint64_t updates_again; /* optimizer steps after another optimizer step, without a backward pass in between */
	bool user_range, user_probe; /* --step-range, --step-probe were given */
	bool loads_elsewhere;	     /* a thread that does not train requests the batches */
	/* loader nexts of an evaluation before the first backward pass; 0: few, or no backward pass yet */
	uint64_t evaluated;
};

/* Notices an evaluation that was under way. Call it each time before step_rule__decide(). *asks is its memory, at first
 * 0: the loader nexts so far without a backward pass. */
void step_evidence__note_evaluation(struct step_evidence *e, uint64_t *asks);

/* Returns false if not enough was seen yet. */
bool step_rule__decide(const struct step_evidence *e, struct step_rule *rule);

/* The rule that each iteration range of the program (proftrace.h) is a step. It ignores other signs of steps. */
struct step_rule step_rule__iterations(void);

/* Has the class come more often than the rule allows? */
bool step_rule__is_refuted_by(const struct step_rule *rule, const __u64 *seen,
			      enum pt_name_class name_class);

/* Has any class come more often than the rule allows? The data loader does not count: an evaluation may have called
 * it. */
bool step_rule__is_refuted(const struct step_rule *rule, const __u64 *seen);

#endif
