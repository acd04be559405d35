// SPDX-License-Identifier: BSD-2-Clause
#include "cli/record_checks.h"
#include "attach/privilege.h"
#include "cli/html_page.h"
#include "cli/place.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/mounts.h"
#include "common/util.h"

#define MAX_OVERHEAD	0.01 /* default of --max-overhead, as a share of a step */
#define STEP_TIMEOUT_NS 60000000000ull

static int set_timer(struct record_options *o)
{
	struct capture_opts *c = &o->capture;
	const struct {
		const char *name;
		bool given;
	} others[] = {
		{"--detail", o->detail != DETAIL_UNCHOSEN && o->detail != DETAIL_PHASE},
		{"--record-shapes", c->record_shapes},
		{"--with-stack", c->with_stack},
		{"--profile-memory", c->profile_memory},
		{"--syscalls", c->syscalls},
		{"--page-faults", c->page_faults},
		{"--op", c->ops.cnt || c->ops_returning.cnt},
		{"--usdt", c->usdt.cnt},
		{"--inject", c->inject},
		{"--cupti", c->cupti},
		{"--trace", o->trace},
		{"--limit-size", o->limit_bytes},
	};
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].given)
			return err__set(-EINVAL, MESSAGE_TIMER_ONLY_EXCLUDES, others[i].name);
	err = report__check_timer(o->report.tables);
	if (err)
		return err;
	o->detail = DETAIL_PHASE;
	c->no_inject = c->no_follow = o->no_trace = true;
	if (!o->report.tables)
		o->report.tables = "perf";
	return 0;
}

/* A page has tables even if none are printed. */
static int check_no_report(const struct record_options *o)
{
	struct report_args usual;
	const char *other;

	if (!o->no_report)
		return 0;
	if (o->tables.path)
		return err__set(-EINVAL, MESSAGE_NO_REPORT_EXCLUDES_REPORT_FILE);
	if (o->html)
		return 0;
	record_options__init_report(&usual);
	other = report_args__other(&o->report, &usual);
	return other ? err__set(-EINVAL, MESSAGE_NO_REPORT_EXCLUDES, other) : 0;
}

/* A recording in memory is lost at the end, so some output must be made of it. */
static int set_in_memory(struct record_options *o)
{
	if (!o->capture.in_memory)
		return 0;
	if (o->capture.output)
		return err__set(-EINVAL, MESSAGE_IN_MEMORY_EXCLUDES_OUTPUT);
	o->no_trace |= !o->trace;
	if (o->no_report && o->no_trace && !o->html)
		return err__set(-EINVAL, MESSAGE_IN_MEMORY_WITHOUT_RESULT);
	return 0;
}

static int set_overhead(struct capture_opts *c)
{
	const bool chosen = c->max_overhead != OVERHEAD_UNCHOSEN;

	if (chosen && c->no_prune)
		return err__set(-EINVAL, MESSAGE_NO_PRUNE_EXCLUDES_MAX_OVERHEAD);
	if (!chosen)
		c->max_overhead = MAX_OVERHEAD;
	return 0;
}

static bool has_operators(const struct record_options *o)
{
	return o->detail != DETAIL_PHASE || o->capture.ops.cnt || o->capture.ops_returning.cnt;
}

static void set_step_timeout(struct capture_opts *c)
{
	c->step_timeout_chosen = c->step_timeout_ns;
	if (!c->step_timeout_ns)
		c->step_timeout_ns = STEP_TIMEOUT_NS;
}

static int check_no_steps(const struct record_options *o)
{
	const struct capture_opts *c = &o->capture;
	const char *other = o->range.set	 ? "a window of steps (--record, --schedule)"
			    : c->step_probe	 ? "--step-probe"
			    : c->step_range	 ? "--step-range"
			    : c->step_timeout_ns ? "--step-timeout"
			    : c->timer_only	 ? "--timer-only"
						 : NULL;

	if (!c->no_steps || !other)
		return 0;
	return err__set(-EINVAL, MESSAGE_NO_STEPS_EXCLUDES, other);
}

static int check_step_unit(const struct capture_opts *c)
{
	const char *other = c->step_probe   ? "--step-probe"
			    : c->step_range ? "--step-range"
			    : c->no_steps   ? "--no-steps"
					    : NULL;

	return c->step_unit && other ? err__set(-EINVAL, MESSAGE_STEP_UNIT_EXCLUDES, other) : 0;
}

int record_checks__set_defaults(struct record_options *o)
{
	int err = check_no_steps(o);

	if (!err)
		err = check_step_unit(&o->capture);
	if (err)
		return err;
	set_step_timeout(&o->capture);
	if (o->no_trace && o->trace)
		return err__set(-EINVAL, MESSAGE_NO_TRACE_EXCLUDES_TRACE);
	err = set_in_memory(o);
	if (!err)
		err = check_no_report(o);
	if (!err)
		err = set_overhead(&o->capture);
	if (err)
		return err;
	if (o->capture.timer_only)
		return set_timer(o);
	if (o->no_trace && o->limit_bytes)
		return err__set(-EINVAL, MESSAGE_NO_TRACE_EXCLUDES_LIMIT_SIZE);
	if (o->detail == DETAIL_UNCHOSEN)
		o->detail = DETAIL_OPERATOR;
	if (o->report.op_detail && !has_operators(o))
		return err__set(-EINVAL, MESSAGE_DETAIL_PHASE_EXCLUDES_OP_DETAIL);
	return 0;
}

static int check_inject(const struct record_options *o)
{
	const struct capture_opts *c = &o->capture;

	if (!c->inject)
		return 0;
	if (c->no_inject)
		return err__set(-EINVAL, MESSAGE_INJECT_EXCLUDES_NO_INJECT);
	if (c->no_pointers)
		return err__set(-EINVAL, MESSAGE_INJECT_EXCLUDES_NO_POINTERS);
	return 0;
}

static int check_cupti(const struct record_options *o)
{
	if (o->capture.sync_events && o->capture.no_inject)
		return err__set(-EINVAL, MESSAGE_SYNC_EVENTS_EXCLUDES_NO_INJECT);
	if (!o->capture.cupti)
		return 0;
	if (o->capture.no_inject)
		return err__set(-EINVAL, MESSAGE_CUPTI_EXCLUDES_NO_INJECT);
	if (o->capture.cupti[0] != '/')
		return err__set(-EINVAL, MESSAGE_CUPTI_PATH_RELATIVE, o->capture.cupti);
	return 0;
}

static int check_start(const struct record_options *o)
{
	if (o->capture.start_after_ns && o->capture.start_at_ns)
		return err__set(-EINVAL, MESSAGE_START_AFTER_EXCLUDES_START_AT);
	return 0;
}

static int check_report_file(const struct record_options *o)
{
	const char *path = o->tables.path;

	if (place__is_same(path, o->capture.output) || place__is_same(path, o->trace))
		return err__set(-EINVAL, MESSAGE_REPORT_FILE_IS_RECORDING, path);
	return report_out__check(&o->tables);
}

static int check_files(const struct record_options *o)
{
	const char *recording = o->capture.output ? o->capture.output : ".";
	int err = place__check(recording, "recording", "--output");

	if (!err)
		err = check_report_file(o);
	if (err || !o->trace || o->no_trace)
		return err;
	if (place__is_same(recording, o->trace) && !place__is_directory(o->trace))
		return err__set(-EINVAL, MESSAGE_TRACE_IS_OUTPUT, o->trace);
	return place__check(o->trace, "trace", "--trace");
}

/* Checks privileges first: without them a better place would not help. */
static int check_places(const struct record_options *o)
{
	int err = check_files(o);

	if (!err)
		err = html_page__check(o);
	return err && err != -EINVAL && privilege__require() ? -EPERM : err;
}

static int check_clock(void)
{
	if (clock__is_known())
		return 0;
	return err__set(-ENODATA, MESSAGE_TIME_NAMESPACE_UNKNOWN);
}

int record_checks__before(const struct record_options *o)
{
	int err = report_args__check(&o->report, o->report.tables);

	if (!err)
		err = mounts__check_proc("/proc");
	if (!err)
		err = check_clock();
	if (!err)
		err = check_inject(o);
	if (!err)
		err = check_cupti(o);
	if (!err)
		err = check_start(o);
	return err ? err : check_places(o);
}
