// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/find_period.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm_groups.h"
#include "capture/steps/log_calls.h"
#include "capture/steps/pass_mark.h"
#include "capture/steps/step_classes.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

static void leave_out_period_probes(struct session *s, bool out)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *probe = &s->plan.probes[i];

		if (probe->for_period)
			s->pruned.rows[probe->row] = out;
	}
}

void find_period__hide_probes(struct session *s)
{
	leave_out_period_probes(s, true);
}

/* Keeps the probe of the operator that opens each step when the other probes of its group go. Data
 * breakpoints stay all together, see probe_kind__makes_steps(). */
static int keep_attached(struct session *s, uint32_t row)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		if (s->plan.probes[i].row != row || s->plan.probes[i].group == GROUP_WATCH)
			continue;
		s->plan.probes[i].group = GROUP_STEP;
		s->plan.probes[i].for_period = false;
	}
	return arm__reattach(s, GROUP_STEP);
}

/* Matches the whole name of a boxed operator, unless it is longer than a rule can be. */
static int add_name_rule(struct session *s, const char *name)
{
	struct pt_name_rule *rule = &s->probes.ctl->name_rules[s->plan.name_rule_cnt];

	if (s->plan.name_rule_cnt == PT_MAX_NAME_RULES)
		return -ENOSPC;
	s->plan.name_rule_cnt++;
	rule->name_class = PT_CLASS_STEP_PROBE;
	memcpy(rule->prefix, name, strlen(name) + 1);
	rule->len = (uint32_t)strlen(name) + (strlen(name) + 1 < sizeof(rule->prefix));
	return 0;
}

static const char *operator_name(const struct session *s, uint32_t row,
				 const struct named_op *named)
{
	for (size_t i = 0; i < s->plan.cnt && !named; i++)
		if (s->plan.probes[i].row == row && s->plan.probes[i].name)
			return s->plan.probes[i].name;
	return named ? named->name : "the operator";
}

static const char *logged_name(const struct session *s, uint32_t op)
{
	const struct named_op *named = call_log__named(&s->records.log, op);

	return operator_name(s, named ? named->row : op, named);
}

static bool is_range(const struct session *s, uint32_t op)
{
	const struct named_op *named = call_log__named(&s->records.log, op);

	for (size_t i = 0; i < s->plan.cnt && named; i++)
		if (s->plan.probes[i].row == named->row)
			return s->plan.probes[i].category == CAT_USER;
	return false;
}

/* The option that makes each call of op a step; NULL: none does. --step-probe knows a framework's
 * operators by name. */
static const char *option_for(const struct session *s, uint32_t op)
{
	const char *prefix = s->match.framework ? s->match.framework->operator_prefix : NULL;

	if (op && is_range(s, op))
		return "--step-range";
	return op && prefix && !strncmp(logged_name(s, op), prefix, strlen(prefix)) ? "--step-probe"
										    : NULL;
}

/* Requests of several kinds in turn repeat as one period. The operator that opens each request is
 * then called several times in a period. */
static void explain_pauses(struct session *s, struct step_period period)
{
	const char *name = logged_name(s, period.pausing);
	const size_t len = strlen(s->learning.explain);

	snprintf(s->learning.explain + len, sizeof(s->learning.explain) - len,
		 "; it pauses longer before %s, called %u times in a repetition: is that several "
		 "requests? %s %s makes each a step",
		 name, period.pausing_cnt, option_for(s, period.pausing), name);
}

/* The explanation does not mention the other unit's operators: whether the calls show them depends
 * on the moment. */
static void explain_period(struct session *s, struct step_period period, bool asks)
{
	const bool requests = s->opts->step_unit == STEP_UNIT_REQUEST;
	const struct named_op *named = call_log__named(&s->records.log, period.op);

	snprintf(s->learning.explain, sizeof(s->learning.explain),
		 "no %s or backward pass was seen; each step opens %s %s, which opens each %s of "
		 "thread %u (%s--step-probe chooses another function)",
		 asks ? "optimizer" : "call of a data loader, optimizer",
		 asks ? "where the data loader is asked for the batch, ahead of" : "at",
		 operator_name(s, s->rule.row, named),
		 requests	  ? "request"
		 : period.is_pass ? "iteration (a pass over the model, as for a token)"
				  : "repetition of the calls",
		 period.tid,
		 requests	  ? "--step-unit iteration makes each pass over the model a step, "
		 : period.is_pass ? "--step-unit request makes each request a step, "
				  : "");
}

static int period_rule(struct session *s, struct step_period period)
{
	const struct named_op *named = call_log__named(&s->records.log, period.op);
	const bool asks = period.tid && s->probes.ctl->loader_next_tid == period.tid;
	int err = named ? add_name_rule(s, named->name) : 0;

	if (!option_for(s, period.pausing))
		period.pausing = 0;
	s->learning.called = period.tid;
	s->learning.pausing[0] = '\0';
	if (!period.op && period.pausing)
		snprintf(s->learning.pausing, sizeof(s->learning.pausing), "%s %s",
			 option_for(s, period.pausing), logged_name(s, period.pausing));
	if (!period.op || err)
		return err;
	s->rule.row = named ? named->row : period.op;
	s->rule.boundary = PT_CLASS_STEP_PROBE;
	s->rule.source = asks ? "DataLoader" : "operator period";
	explain_period(s, period, asks);
	if (period.pausing)
		explain_pauses(s, period);
	s->rule.explain = s->learning.explain;
	s->probes.ctl->step_tid = period.tid;
	return keep_attached(s, s->rule.row);
}

/* A phase seen by a data breakpoint must not open steps: its probe is detached far from a
 * window. */
static void forget_watched_phases(struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if ((s->plan.probes[i].group == GROUP_WATCH &&
		     s->plan.probes[i].category != CAT_USER) ||
		    s->plan.probes[i].group == GROUP_ENCLOSING)
			call_log__forget(&s->records.log, s->plan.probes[i].row);
}

/* Other threads may execute a compiled graph, each a part of it or some of its runs. We keep the
 * thread that calls the graph. */
static int forget_executors(struct session *s)
{
	auto_free bool *runs_graphs = calloc(PT_MAX_PROBES, sizeof(*runs_graphs));

	if (!runs_graphs)
		return -ENOMEM;
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].category == CAT_SCRIPT)
			runs_graphs[s->plan.probes[i].row] = true;
	return call_log__keep_leaders(&s->records.log, runs_graphs);
}

/* An engine runs operators on threads of its own, in no fixed order. We keep the program's calls
 * that push them to the engine. */
static void forget_engine(struct session *s)
{
	for (size_t i = 0; i < s->plan.cnt; i++) {
		const struct planned_probe *p = &s->plan.probes[i];

		if (p->name_prefix && p->program && !strcmp(p->program, "object_entry"))
			call_log__forget(&s->records.log, p->row);
	}
}

/* Logs the operators of one burst in order. */
static int look_at_calls(struct session *s)
{
	struct burst burst;
	int err = bursts__begin(s, &burst);

	if (!err && burst.seen_ns)
		err = session__log_calls(s, 0, burst.most_calls);
	bursts__end(s, &burst);
	forget_watched_phases(s);
	forget_engine(s);
	return err;
}

/* Looks for a period in this look, then in all looks together: a look at a slow model has few
 * passes or requests. */
static int period_of_calls(struct session *s, struct step_period *period)
{
	struct step_period of_looks;
	int err;

	*period = steps__period(s->records.log.calls, s->records.log.cnt, s->opts->step_unit);
	if (period->op)
		return 0;
	err = call_log__keep(&s->records.log);
	if (err)
		return err;
	of_looks = steps__period_of_looks(s->records.log.kept, s->records.log.kept_cnt,
					  s->opts->step_unit);
	if (of_looks.op)
		*period = of_looks;
	return 0;
}

int find_period__look(struct session *s)
{
	struct step_period period = {0};
	int err;

	leave_out_period_probes(s, false);
	s->learning.traced = s->probes.ctl->traced;
	err = look_at_calls(s);
	if (!err)
		err = forget_executors(s);
	if (!err)
		err = pass_mark__set(&s->records.log, &s->plan);
	/* If training has begun meanwhile, better marks exist. If a model was traced, the traced
	 * operators repeat but are no steps. */
	if (!err && nothing_seen(s->probes.ctl) && s->probes.ctl->traced == s->learning.traced)
		err = period_of_calls(s, &period);
	else
		call_log__free(&s->records.log);
	if (!err && period.tid)
		err = period_rule(s, period);
	if (err || s->rule.boundary)
		call_log__free(&s->records.log);
	find_period__hide_probes(s);
	return err;
}
