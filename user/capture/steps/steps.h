/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is a step? Decided from what the process shows on its own: ranges of the data loader and the
 * optimizer, backward passes, else the period of its operators. Best source first.
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
	enum pt_name_class needs;   /* must have been seen since the last boundary */
	uint32_t row;		    /* boundary STEP_PROBE by an operator's row, else 0 */
	const char *source;	    /* short, for the report: "DataLoader" */
	const char *explain;	    /* in plain words */
	const struct rule_row *why; /* NULL: it was chosen, or found in operators */
};

/* What was seen of each class since the probes are live. */
struct step_evidence {
	const __u64 *seen;   /* by enum pt_name_class */
	uint64_t elapsed_ns; /* since it repeats: what comes once may be of a set-up that takes long
			      */
	uint64_t updates_again; /* optimizers' steps behind another one, and no backward pass */
	bool user_range, user_probe; /* --step-range, --step-probe were given */
	bool loads_elsewhere;	     /* a thread that does not train asks for the batches */
	uint64_t evaluated; /* asks before the first backward pass: an evaluation's; 0: few, or no
			       pass yet */
};

/* As often as it is called while nothing is decided: whether an evaluation was under way. *asks:
 * those that the latest call knew without a backward pass, at first 0. */
void step_evidence__note_evaluation(struct step_evidence *e, uint64_t *asks);

/* False: not enough seen yet. */
bool step_rule__decide(const struct step_evidence *e, struct step_rule *rule);

/* Each frame that the program begins (proftrace.h), without a look at what else there may be. */
struct step_rule step_rule__iterations(void);

/* Has the class come more often than the rule says? */
bool step_rule__is_refuted_by(const struct step_rule *rule, const __u64 *seen,
			      enum pt_name_class name_class);

/* Has any? The data loader's does not count: it may be an evaluation's. */
bool step_rule__is_refuted(const struct step_rule *rule, const __u64 *seen);

#endif
