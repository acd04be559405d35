/* SPDX-License-Identifier: BSD-2-Clause */
/* The step rule of a session: the programs follow it, and what comes later may refute it. */
#ifndef PROFTRACE_SESSION_RULE_H
#define PROFTRACE_SESSION_RULE_H

#include "capture/session.h"

/* Tells the programs. */
void session_rule__apply(struct session *s);
/* The rule, and what was measured in its steps. */
void session_rule__forget(struct session *s);
/* Are steps told by a period of operators? */
bool session_rule__is_period(const struct session *s);
/* waiting_since_ns: when the latest step came. */
bool session_rule__is_refuted(const struct session *s, uint64_t waiting_since_ns);
/* Was there a sign of steps of the job's own kind, though they are told by a period of operators? */
bool session__period_is_doubtful(const struct session *s);
/* The same of tracing: what repeats then are its operators. */
bool session__period_is_traced(const struct session *s);
/* Where frames of proftrace.h may come, they open steps from now on. */
void session__step_by_iterations(struct session *s);

#endif
