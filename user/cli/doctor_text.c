// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <string.h>
#include "cli/doctor.h"
#include "common/counted.h"
#include "common/text_char.h"
#include "common/util.h"
#include "privilege/rights.h"
#include "privilege/sandbox.h"

/* "  name             value" */
static void row(FILE *out, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void row(FILE *out, const char *name, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	fprintf(out, "  %-18s ", name);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	text__put_line(out, text ? text : fmt); /* the text may contain names of the target */
	fputc('\n', out);
}

static const char *yes_no(bool b)
{
	return b ? "yes" : "no";
}

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

static void print_method(const struct doctor *d, FILE *out)
{
	if (d->caps.uprobe_multi)
		row(out, "attach", "uprobe multi: one kernel link for all probes of a library");
	else if (d->caps.perf_uprobe)
		row(out, "attach",
		    d->trace_events
			    ? "perf events with many probes each (tracefs): uprobe multi does not "
			      "work here"
			    : "perf events, one for each probe: neither uprobe multi nor tracefs "
			      "works here");
	else
		row(out, "attach", "not possible");
}

/* Which of this process's rights are kept when. */
static void print_rights(const struct doctor *d, FILE *out)
{
	static const char *const when[] = {"until the probes are in", "until they are out",
					   "until the output is made"};
	const unsigned int lacks = d->rights.lacks;

	for (enum rights_stage stage = RIGHTS_ATTACH; stage < RIGHTS_OUTPUT; stage++)
		row(out, stage ? "" : "capabilities", "%s: %s", when[stage],
		    rights__names(d->rights.has, stage, d->needs_admin));
	if (!(lacks & PROTECTION_SECCOMP))
		row(out, "", "a session opens no file to write to (a seccomp filter)");
	row(out, "", "the process that opens its files: %s",
	    rights__names_for(d->rights.has, RIGHTS_TO_OPEN));
	row(out, "", "the process that makes the output: none%s%s",
	    lacks & PROTECTION_LANDLOCK ? "" : ", Landlock",
	    lacks & PROTECTION_SECCOMP ? "" : ", a seccomp filter");
	if (lacks)
		row(out, "", "the kernel lacks %s", sandbox__name(lacks));
}

static void print_machine(const struct doctor *d, FILE *out)
{
	const struct attach_caps *c = &d->caps;

	fputs("This machine\n", out);
	row(out, "kernel", "%s", c->kernel);
	row(out, "privileges", "user %u; BPF programs %s", d->rights.uid,
	    c->can_bpf ? "may be loaded" : "may not be loaded");
	print_rights(d, out);
	row(out, "kernel types (BTF)", "%s", yes_no(c->btf));
	if (c->can_bpf) {
		row(out, "ring buffer", "%s", yes_no(c->ringbuf));
		row(out, "cookies of probes", "%s", yes_no(c->cookies));
		row(out, "page faults", "%s",
		    c->page_faults ? "yes" : "no, --page-faults would be refused");
	}
	print_method(d, out);
	if (d->has_cost) {
		row(out, "cost of one hit",
		    "%.2f us at an emulated instruction, %.2f us at a single-stepped one",
		    us(d->cost.entry_ns), us(d->cost.stepped_ns));
		row(out, "", "%.2f us for entry and return of one call",
		    us(d->cost.entry_return_ns));
	}
	if (c->missing[0])
		row(out, "missing", "%s", c->missing);
}

/* Arguments may be long and contain anything. Prints the first 200 characters on one line. */
static void print_argv(char **argv, FILE *out)
{
	int left = 200, cols;

	fprintf(out, "  %-18s", "command");
	for (; argv && *argv && left-- > 0; argv++) {
		fputc(' ', out);
		for (const char *c = *argv; *c && left-- > 0;) {
			const size_t len = text__char(c, &cols);

			text__put_char(out, c, len);
			c += len;
		}
	}
	fputs(left > 0 ? "\n" : " ...\n", out);
}

static void print_identity(const struct doctor *d, FILE *out)
{
	const struct target *t = d->target;

	fprintf(out, "\nProcess %d (", t->pid);
	text__put_line(out, t->comm);
	fputs(")\n", out);
	if (t->argv && *t->argv)
		print_argv(t->argv, out);
	row(out, "user, threads", "%u, %zu", t->uid, d->thread_cnt);
	if (t->foreign_mnt_ns || t->foreign_pid_ns)
		row(out, "container", "own %s%s%s namespace; there it is process %d",
		    t->foreign_mnt_ns ? "mount" : "",
		    t->foreign_mnt_ns && t->foreign_pid_ns ? " and " : "",
		    t->foreign_pid_ns ? "pid" : "", t->ns_pid);
	if (t->is_kthread)
		row(out, "kind", "a kernel thread: CPU and scheduler tables only");
	if (t->is_32bit)
		row(out, "kind", "a 32-bit program: CPU and scheduler tables only");
	if (t->is_static)
		row(out, "kind", "a static program: no framework library to look into");
	if (t->is_stopped)
		row(out, "state", "stopped: nothing will be recorded until it continues");
	if (t->python)
		row(out, "Python", "%s", t->python);
	if (t->rank >= 0)
		row(out, "rank", "%d of %d, local rank %d", t->rank, t->world_size, t->local_rank);
	if (t->copied_text)
		row(out, "copied text", "%s: code in anonymous memory, which probes do not reach",
		    t->copied_text);
	for (size_t i = 0; i < t->lib_cnt; i++) {
		if (t->libs[i].deleted && strncmp(t->libs[i].path, "/memfd:", 7) != 0)
			row(out, "replaced on disk", "%s (the mapped file is used)",
			    t->libs[i].path);
	}
}

static void print_plan_cost(const struct doctor_plan *dp, FILE *out)
{
	if (!dp->dearest_ns)
		return;
	if (dp->cheapest_ns == dp->dearest_ns)
		row(out, "", "a traced call costs about %.1f us", us(dp->dearest_ns));
	else
		row(out, "", "a traced call costs about %.1f to %.1f us", us(dp->cheapest_ns),
		    us(dp->dearest_ns));
}

/* Prints one line per function, even if it has several returns. */
static void print_stepped(const struct doctor_plan *dp, FILE *out)
{
	enum { SHOWN = 8 };
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < dp->stepped_cnt; i++) {
		const struct planned_probe *p = dp->stepped[i];

		if (i && p->row == dp->stepped[i - 1]->row)
			continue;
		if (shown++ < SHOWN)
			row(out, "", "single-stepped: %s: %s", p->symbol,
			    planned_probe__why_stepped(p));
		else
			more++;
	}
	if (more)
		row(out, "", "single-stepped: %zu more; --format json lists all", more);
}

static void print_plan(const struct doctor_plan *dp, enum detail detail, FILE *out)
{
	char name[32];

	snprintf(name, sizeof(name), "--detail %s", doctor_detail_names[detail]);
	if (dp->err) {
		row(out, name, "cannot be planned");
		return;
	}
	row(out, name, "%s, %s: %zu emulated, %zu single-stepped%s",
	    counted(dp->functions, "function", "functions").s,
	    counted(dp->sites, "probe site", "probe sites").s, dp->by_class[SITE_EMULATED],
	    dp->by_class[SITE_STEPPED], detail == DETAIL_OPERATOR ? " (default)" : "");
	print_stepped(dp, out);
	if (dp->by_class[SITE_REFUSED] || dp->by_class[SITE_UNKNOWN])
		row(out, "", "%s: no probe may go on that instruction",
		    counted(dp->by_class[SITE_REFUSED] + dp->by_class[SITE_UNKNOWN],
			    "site left out", "sites left out")
			    .s);
	if (dp->with_return)
		row(out, "", "%s a return probe, on functions that let no exception pass",
		    counted(dp->with_return - dp->returns_refused, "has", "have").s);
	if (dp->returns_refused)
		row(out, "", "%s: not on the list of safe functions",
		    counted(dp->returns_refused, "return probe refused", "return probes refused")
			    .s);
	print_plan_cost(dp, out);
	if (dp->watched)
		row(out, "", "%s of the processor's four, for functions written in Python",
		    counted(dp->watched, "data breakpoint", "data breakpoints").s);
	for (size_t i = 0; i < dp->plan.missing_cnt; i++)
		row(out, "", "not found: %s", dp->plan.missing[i]);
}

static void print_framework(const struct doctor *d, FILE *out)
{
	if (d->own_usdt)
		row(out, "proftrace.h", "%s: ranges, counters and markers; frames are steps",
		    counted(d->own_usdt, "probe", "probes").s);
	if (!d->match.framework) {
		row(out, "framework", "none recognised: CPU and scheduler tables%s",
		    d->own_usdt ? ", and these" : ", and what --op and --usdt name");
		return;
	}
	row(out, "framework", "%s %s, %s", d->match.framework->title,
	    d->match.version[0] ? d->match.version : "of unknown version",
	    d->match.known_version ? "a version that was measured"
				   : "not a measured version: symbols decide what works");
	row(out, "", "because it %s", d->match.why);
	if (d->match.others[0])
		row(out, "", "it has loaded %s, too: --framework chooses", d->match.others);
	for (int i = 0; i < DETAIL_CNT; i++)
		print_plan(&d->plans[i], (enum detail)i, out);
}

static void print_device(const struct doctor *d, FILE *out)
{
	const struct doctor_device *device = &d->device;
	const struct cupti_found *cupti = &device->attached.cupti;

	if (!device->uses_cuda) {
		row(out, "device times", "%s",
		    device->may_come ? "none yet: it has not used a device so far"
				     : "none: it does not use CUDA");
		return;
	}
	if (!device->works) {
		row(out, "device times", "not by CUPTI: %s", device->why_not);
		row(out, "", "instead its calls of CUDA, by probes; not when kernels ran");
		return;
	}
	row(out, "device times", "by CUPTI: %s (--no-inject leaves it out)",
	    device->attached.inject.already_loaded ? "our library is in it already, asleep"
						   : "our library will be loaded into it");
	if (cupti->loaded)
		row(out, "", "it has a libcupti of its own");
	else
		row(out, "", "with %s", cupti->path);
	if (device->attached.inject.filtered)
		row(out, "",
		    "it has a seccomp filter: whether that lets it load shows only when it is "
		    "tried");
}

void doctor__print_text(const struct doctor *d, FILE *out)
{
	print_machine(d, out);
	if (d->target) {
		print_identity(d, out);
		print_framework(d, out);
		print_device(d, out);
	}
	fputc('\n', out);
	if (!doctor__can_profile(d))
		fputs("Not ready: see what is missing above.\n", out);
	else if (d->target)
		fprintf(out, "Ready: sudo proftrace -p %d %s\n", d->target->pid,
			d->match.framework || d->own_usdt ? "--record 2:10" : "--duration 5s");
	else
		fputs("Ready: sudo proftrace doctor -p PID says more about a process.\n", out);
}
