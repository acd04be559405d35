// SPDX-License-Identifier: BSD-2-Clause
/* Plans the probes of the process, and describes what cannot be probed. */
#include "capture/session.h"
#include "capture/arming/node_types.h"
#include "capture/decode/python_stacks.h"
#include "capture/processes/await.h"
#include "capture/processes/descendant.h"
#include "capture/steps/epoch_end.h"
#include "capture/steps/optimizer_mark.h"
#include "capture/steps/optimizer_step.h"
#include "capture/user_probes/user_ops.h"
#include "capture/user_probes/user_usdt.h"
#include "common/capability.h"
#include "common/counted.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <string.h>

static int add_step_range(struct session *s)
{
	struct pt_name_rule *rule = s->plan.name_rules;

	if (!s->opts->step_range)
		return 0;
	if (s->plan.name_rule_cnt == PT_MAX_NAME_RULES)
		return -ENOSPC;
	if (strlen(s->opts->step_range) > sizeof(rule->prefix))
		return err__set(-EINVAL, MESSAGE_STEP_RANGE_TOO_LONG, sizeof(rule->prefix));
	memmove(rule + 1, rule, s->plan.name_rule_cnt++ * sizeof(*rule));
	memset(rule, 0, sizeof(*rule));
	rule->len = (uint32_t)strnlen(s->opts->step_range, sizeof(rule->prefix));
	memcpy(rule->prefix, s->opts->step_range, rule->len);
	rule->name_class = PT_CLASS_USER_STEP;
	return 0;
}

static int allow_returns(const char *list, struct allowed_returns *returns)
{
	auto_free char *copy = list ? strdup(list) : NULL;
	char *rest = copy, *symbol;
	int err = list && !copy ? -ENOMEM : 0;

	while (!err && (symbol = strsep(&rest, ",")))
		err = allowed_returns__add_chosen(returns, symbol);
	return err;
}

static bool has_return_probe(const struct probe_plan *plan, const char *symbol)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].return_program && !strcmp(plan->probes[i].symbol, symbol))
			return true;
	return false;
}

/* A misspelt name allows nothing. Without this warning nobody would notice. */
static void warn_allowed_in_vain(const char *list, const struct probe_plan *plan)
{
	auto_free char *copy = list ? strdup(list) : NULL;
	char *rest = copy, *symbol;

	while ((symbol = strsep(&rest, ",")))
		if (!has_return_probe(plan, symbol))
			log__warn(MESSAGE_ALLOWED_PROBE_NOT_PLANNED, symbol);
}

/* Data that a process without a framework shows beside the scheduler's. */
enum { SHOWS_STEPS = 1, SHOWS_FUNCTIONS = 2, SHOWS_MARKS = 4 };

static unsigned int shown_without_framework(const struct session *s)
{
	const struct capture_opts *o = s->opts;

	return (o->step_probe ? SHOWS_STEPS : 0) |
	       (o->ops.cnt || o->ops_returning.cnt ? SHOWS_FUNCTIONS : 0) |
	       (user_usdt__has_own(s->target) ? SHOWS_MARKS : 0);
}

static void warn_framework_missing(pid_t pid, unsigned int shown)
{
	switch (shown) {
	case 0:
		log__warn(MESSAGE_FRAMEWORK_MISSING, pid);
		break;
	case SHOWS_STEPS:
		log__warn(MESSAGE_FRAMEWORK_MISSING_STEPS_GIVEN, pid);
		break;
	case SHOWS_FUNCTIONS:
		log__warn(MESSAGE_FRAMEWORK_MISSING_FUNCTIONS_GIVEN, pid);
		break;
	case SHOWS_FUNCTIONS | SHOWS_STEPS:
		log__warn(MESSAGE_FRAMEWORK_MISSING_FUNCTIONS_AND_STEPS_GIVEN, pid);
		break;
	case SHOWS_MARKS:
		log__warn(MESSAGE_FRAMEWORK_MISSING_MARKS_FOUND, pid);
		break;
	case SHOWS_MARKS | SHOWS_STEPS:
		log__warn(MESSAGE_FRAMEWORK_MISSING_MARKS_FOUND_STEPS_GIVEN, pid);
		break;
	case SHOWS_MARKS | SHOWS_FUNCTIONS:
		log__warn(MESSAGE_FRAMEWORK_MISSING_MARKS_FOUND_FUNCTIONS_GIVEN, pid);
		break;
	default:
		log__warn(MESSAGE_FRAMEWORK_MISSING_MARKS_FOUND_FUNCTIONS_AND_STEPS_GIVEN, pid);
	}
}

static void warn_no_framework(const struct session *s)
{
	const pid_t pid = s->opts->pid;

	if (s->target->is_kthread) {
		log__warn(MESSAGE_TARGET_IS_KERNEL_THREAD, pid);
		return;
	}
	if (s->target->is_32bit) {
		log__warn(MESSAGE_TARGET_IS_32_BIT, pid);
		return;
	}
	if (!s->start.descendant_described)
		descendant__describe(pid);
	warn_framework_missing(pid, shown_without_framework(s));
}

/* Can many probes be attached together? Hundreds of single probes take a minute to detach. */
static bool attaches_many(enum attach_method method)
{
	return attach_method__resolve(method) == ATTACH_UPROBE_MULTI || attach__has_trace_events();
}

/* Two frameworks each have steps. One recording shows the steps of one framework. */
static int note_others(struct session *s)
{
	const struct framework_match *m = &s->match;

	if (!m->others[0])
		return 0;
	log__warn(MESSAGE_FRAMEWORKS_SEVERAL, s->opts->pid, m->others, m->framework->title);
	return probe_plan__missing(
		&s->plan,
		"steps, phases and operators of %s, which the process has loaded beside %s "
		"(--framework chooses)",
		m->others, m->framework->title);
}

static int refuse_framework(const struct session *s)
{
	if (s->match.others[0])
		return err__set(-EINVAL, MESSAGE_FRAMEWORK_NOT_LOADED_BUT_OTHERS,
				s->opts->framework->name, s->opts->pid, s->match.others);
	return err__set(-EINVAL, MESSAGE_FRAMEWORK_NOT_LOADED, s->opts->framework->name,
			s->opts->pid);
}

static int note_no_framework(struct session *s)
{
	int err = 0;

	if (s->opts->record_shapes)
		err = probe_plan__missing(&s->plan, "--record-shapes: no framework is known in the "
						    "process; not shown: shapes and arguments");
	if (!err && s->opts->profile_memory)
		err = probe_plan__missing(&s->plan,
					  "--profile-memory: no framework is known in the process; "
					  "not shown: allocations but CUDA's");
	return err;
}

/* plan.dtypes is set if the framework's arguments are read. */
static int note_arguments(struct session *s)
{
	if (!s->match.framework)
		return note_no_framework(s);
	if (!s->opts->record_shapes || s->plan.dtypes)
		return 0;
	return probe_plan__missing(&s->plan,
				   "--record-shapes: arguments of %s's operators are "
				   "not read; not shown: their shapes",
				   s->match.framework->title);
}

/* A uprobe never hits in copied code. The report must say so, since no hits look like no calls. */
static int note_copied_text(struct session *s)
{
	const struct target *t = s->target;
	char more[48] = "";

	if (!t->copied_text)
		return 0;
	if (t->copied_text_cnt > 1) {
		snprintf(more, sizeof(more), " (and that of %zu more)", t->copied_text_cnt - 1);
		log__warn(MESSAGE_CODE_OF_SEVERAL_ANONYMOUS, t->pid, t->copied_text,
			  t->copied_text_cnt - 1);
	} else {
		log__warn(MESSAGE_CODE_ANONYMOUS, t->pid, t->copied_text);
	}
	return probe_plan__missing(
		&s->plan,
		"calls of code that runs from anonymous memory, of %s%s: probes do "
		"not reach it",
		t->copied_text, more);
}

static void describe_framework(const struct framework_match *m)
{
	if (m->version[0])
		log__info(MESSAGE_FRAMEWORK_FOUND, m->framework->title, m->version, m->why);
	else
		log__info(MESSAGE_FRAMEWORK_WITHOUT_VERSION_FOUND, m->framework->title, m->why);
}

int session__plan(struct session *s)
{
	const struct plan_opts opts = {
		.detail = s->opts->detail,
		.record_shapes = s->opts->record_shapes,
		.profile_memory = s->opts->profile_memory,
		.node_types = !s->opts->no_prune && attaches_many(s->opts->method),
		.find_period = s->opts->detail == DETAIL_PHASE && !s->opts->step_probe &&
			       !s->opts->step_range,
	};
	int err = allow_returns(s->opts->return_probes, &s->plan.returns);

	if (!err)
		err = note_copied_text(s);
	if (err)
		return err;
	if (s->match.framework) {
		describe_framework(&s->match);
		err = s->match.framework->plan(s->target, &s->match, &opts, &s->plan);
		if (!err)
			err = note_others(s);
	} else if (s->opts->framework && !s->target->unreadable) {
		err = refuse_framework(s);
	} else if (s->target->unreadable) {
		log__warn(MESSAGE_LIBRARIES_UNREADABLE, s->opts->pid, s->target->unreadable,
			  capability__why_refused(CAPABILITY(CAP_DAC_READ_SEARCH)));
	} else {
		warn_no_framework(s);
	}
	if (!err)
		err = note_arguments(s);
	if (!err)
		err = add_step_range(s);
	if (!err)
		err = user_ops__plan(s->opts, s->match.framework, s->target, &s->plan);
	node_types__show(s, false);
	if (!err)
		err = optimizer_step__plan(s);
	if (!err)
		err = optimizer_mark__plan(s);
	if (!err)
		err = user_usdt__plan(s->opts, s->target, &s->plan);
	if (!err && s->opts->with_stack)
		err = python_stacks__plan(s->target, &s->plan, &s->records.stacks);
	if (!err)
		epoch_end__plan(s->target, &s->plan);
	if (!err)
		warn_allowed_in_vain(s->opts->return_probes, &s->plan);
	return err;
}
