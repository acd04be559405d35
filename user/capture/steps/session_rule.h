/* SPDX-License-Identifier: BSD-2-Clause */
/* The step rule of a session. The BPF programs follow it; later events may refute it. */
#ifndef PROFTRACE_SESSION_RULE_H
#define PROFTRACE_SESSION_RULE_H

#include "capture/session.h"

/* Gives the rule to the BPF programs. */
void session_rule__apply(struct session *s);
/* Forgets the rule and the measurements of its steps. */
void session_rule__forget(struct session *s);
/* Does a period of operators make the steps? */
bool session_rule__is_period(const struct session *s);
/* Do later events refute the rule? waiting_since_ns: time of the latest step. */
bool session_rule__is_refuted(const struct session *s, uint64_t waiting_since_ns);
/* Does a period of operators make the steps, although a loader, optimizer or backward pass was seen since? */
bool session__period_is_doubtful(const struct session *s);
/* Does a period of operators make the steps, although a model was traced since? Tracing repeats operators, too. */
bool session__period_is_traced(const struct session *s);
/* If the plan has iteration ranges of proftrace.h, these open steps from now on. */
void session__step_by_iterations(struct session *s);

#endif
