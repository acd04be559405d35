// SPDX-License-Identifier: BSD-2-Clause
/* proftrace doctor: what this kernel, these privileges and that process allow. */
#include <limits.h>
#include <string.h>
#include "capture/user_probes/user_usdt.h"
#include "attach/privilege.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/mounts.h"
#include "common/capability_set.h"
#include "common/util.h"
#include "privilege/landlock.h"
#include "privilege/rights.h"
#include "privilege/sandbox.h"

extern const struct command command_doctor;

/* ---- gathering ---- */

static void count_site(struct doctor *d, struct doctor_plan *dp, const struct planned_probe *p)
{
	const enum site_class class = planned_probe__site(d->target, p);
	uint64_t ns = class == SITE_STEPPED ? d->cost.stepped_ns : d->cost.entry_ns;

	dp->by_class[class]++;
	if (class == SITE_STEPPED && ARRAY_PUSH(dp->stepped, dp->stepped_cnt, dp->stepped_cap, p))
		log__warn(MESSAGE_DOCTOR_LIST_CUT_OFF);
	if (class == SITE_REFUSED)
		return;
	if (p->return_program) {
		dp->with_return++;
		dp->returns_refused += !allowed_returns__has(&dp->plan.returns, p->symbol);
		ns += d->cost.entry_return_ns - d->cost.entry_ns;
	}
	if (!dp->cheapest_ns || ns < dp->cheapest_ns)
		dp->cheapest_ns = ns;
	if (ns > dp->dearest_ns)
		dp->dearest_ns = ns;
}

static void plan_level(struct doctor *d, enum detail detail)
{
	struct doctor_plan *dp = &d->plans[detail];
	struct plan_opts opts = {.detail = detail, .record_shapes = true, .profile_memory = true};
	bool watches_one = false;

	dp->err = d->match.framework->plan(d->target, &d->match, &opts, &dp->plan);
	if (dp->err) {
		log__warn(MESSAGE_DOCTOR_DETAIL_NOT_PLANNED, d->match.framework->title,
			  doctor_detail_names[detail], err__take(dp->err));
		return;
	}
	dp->functions = dp->plan.row_cnt;
	for (size_t i = 0; i < dp->plan.cnt; i++) {
		const struct planned_probe *probe = &dp->plan.probes[i];

		dp->sites += probe->group != GROUP_WATCH;
		if (probe->group != GROUP_WATCH)
			count_site(d, dp, probe);
		else if (!probe->told_by) /* only one probe with told_by is watched */
			dp->watched++;
		else
			watches_one = true;
	}
	dp->watched += watches_one;
}

static void examine_device(struct doctor *d)
{
	struct doctor_device *device = &d->device;
	int err;

	device->uses_cuda = cuda__has_driver(d->target);
	device->may_come = cuda__has_runtime(d->target);
	if (!device->uses_cuda)
		return;
	err = shim__may_attach(d->target, NULL, &device->attached);
	device->works = !err;
	if (err)
		snprintf(device->why_not, sizeof(device->why_not), "%s", err__take(err));
}

static int examine_target(struct doctor *d, pid_t pid)
{
	struct target_thread *threads = NULL;
	int err = target__open(pid, &d->target);

	if (err)
		return err;
	if (target__threads(d->target, &threads, &d->thread_cnt) == 0)
		free(threads);
	examine_device(d);
	d->own_usdt = user_usdt__own_cnt(d->target);
	err = frameworks__recognise(d->target, NULL, &d->match);
	if (err)
		return err;
	for (int detail = 0; d->match.framework && detail < DETAIL_CNT; detail++)
		plan_level(d, (enum detail)detail);
	return 0;
}

static void examine_rights(struct doctor_rights *r)
{
	r->has = capability_set__permitted();
	r->uid = geteuid();
	r->lacks = sandbox__lacks();
	r->landlock = landlock__version();
}

static int examine_machine(struct doctor *d)
{
	int err = attach_caps__probe(&d->caps);

	if (err)
		return err;
	d->method = d->caps.uprobe_multi ? ATTACH_UPROBE_MULTI : ATTACH_PERF_EVENT;
	if (!d->caps.uprobe_multi && !d->caps.perf_uprobe)
		return 0;
	d->needs_admin = privilege__keeps_admin(d->method);
	d->trace_events = !d->caps.uprobe_multi && attach__has_trace_events();
	err = attach_cost__measure(d->method, &d->cost);
	d->has_cost = !err;
	if (err)
		log__warn(MESSAGE_DOCTOR_COST_NOT_MEASURED, err__take(err));
	return 0;
}

static void release(struct doctor *d)
{
	for (int i = 0; i < DETAIL_CNT; i++) {
		free(d->plans[i].stepped);
		probe_plan__free(&d->plans[i].plan);
	}
	target__close(d->target);
}

/* ---- command ---- */

enum { FORMAT_TEXT, FORMAT_JSON };

struct doctor_cmd {
	uint64_t pid;
	int format;
};

static const char *const formats[] = {"text", "json", NULL};

static const struct opt doctor_options[] = {
	{OPT_UINT, "pid", 'p', "PID", "Examine this process too.", offsetof(struct doctor_cmd, pid),
	 .min = 1, .max = INT_MAX, .once = "one process"},
	{OPT_CHOICE, "format", 'f', "NAME", "How to print (default text).",
	 offsetof(struct doctor_cmd, format), .choices = formats},
	{OPT_END},
};

static int run(int argc, char **argv)
{
	struct doctor_cmd cmd = {0};
	struct doctor d = {0};
	int rest, status, sandboxed,
		err = opts__parse(&command_doctor, argc, argv, &cmd, false, &rest);

	if (!err && rest < argc)
		err = err__set(-EINVAL, MESSAGE_DOCTOR_ARGUMENT_UNEXPECTED, argv[rest]);
	if (err)
		return cli__fail(err);
	err = mounts__check_proc("/proc");
	if (err)
		return cli__fail(err);
	descriptors__allow_most();
	examine_rights(&d.rights);
	rights__cut(RIGHTS_TO_TRY);
	err = examine_machine(&d);
	sandboxed = sandbox__look_on(rights__for(RIGHTS_TO_EXAMINE));
	if (!err && !sandboxed && cmd.pid)
		err = examine_target(&d, (pid_t)cmd.pid);
	if (!sandboxed)
		sandboxed = sandbox__go_on(FILTER_OUTPUT, 0);
	if (sandboxed) {
		release(&d);
		return cli__fail(sandboxed);
	}
	status = doctor__can_profile(&d) ? 0 : 1;
	/* If the process cannot be opened, the checks of the machine may say why. */
	if (cmd.format == FORMAT_TEXT && (!err || !doctor__can_profile(&d)))
		doctor__print_text(&d, stdout);
	else if (!err)
		err = doctor__print_json(&d, stdout);
	fflush(stdout);
	release(&d);
	return err ? cli__fail(err) : status;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[-p PID] [options]",
	.summary = "Says what this kernel, these privileges and a process allow, and what a probe "
		   "costs.",
	.details = "doctor tries each facility on proftrace itself. It only looks at the process "
		   "and attaches nothing to it. Exits 0 if this machine can profile, 1 if "
		   "something is missing.",
	.examples = "sudo proftrace doctor  # the machine\n"
		    "sudo proftrace doctor -p 4242  # and what could be traced in a process\n"
		    "sudo proftrace doctor -p 4242 --format json  # for scripts",
	.opts = doctor_options,
	.run = run,
};
