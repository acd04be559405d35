// SPDX-License-Identifier: BSD-2-Clause
/* proftrace monitor: runs on a host permanently. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attach/privilege.h"
#include "cli/cli.h"
#include "cli/config_file.h"
#include "cli/percent.h"
#include "cli/token_file.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/message_table.h"
#include "common/mounts.h"
#include "common/util.h"
#include "monitor/curl_library.h"
#include "monitor/listen_address.h"
#include "monitor/monitor.h"
#include "monitor/pusher.h"

extern const struct command command_monitor;

#define CPUS_MAX 1024

struct monitor_command {
	struct monitor_opts o;
	const char *config; /* NULL: none */
	const char *token_file;
	char *token;
	bool check;
	char *config_text;
};

static int parse_budget(const char *value, void *dest)
{
	return percent__parse("budget", value, dest);
}

static int parse_max_duty(const char *value, void *dest)
{
	return percent__parse("max-duty", value, dest);
}

static int parse_max_pressure(const char *value, void *dest)
{
	return percent__parse("max-pressure", value, dest);
}

static int parse_cpu(const char *value, void *dest)
{
	char *end;
	const double cpus = strtod(value, &end);

	if (end == value || *end || !(cpus > 0 && cpus <= CPUS_MAX))
		return err__set(-EINVAL, MESSAGE_MONITOR_CPU_INVALID, value);
	*(double *)dest = cpus;
	return 0;
}

static int parse_allow(const char *value, void *dest)
{
	return rules__add(dest, "allow", value);
}

static int parse_deny(const char *value, void *dest)
{
	return rules__add(dest, "deny", value);
}

static int parse_pages(const char *value, void *dest)
{
	const bool all = !strcmp(value, "all");

	if (!all && strcmp(value, "owner") != 0)
		return err__set(-EINVAL, MESSAGE_MONITOR_PAGES_INVALID, value);
	*(bool *)dest = all;
	return 0;
}

static const char *const no_yes[] = {"no", "yes", NULL};

#define MONITOR(field) offsetof(struct monitor_command, o.field)

static const struct opt opts[] = {
	{OPT_GROUP, "What is watched"},
	{OPT_CUSTOM, "allow", 0, "RULE",
	 "Watch only processes that a rule matches: command:GLOB (the process's name, 15 bytes at "
	 "most, as `ps -o comm` has it), program:GLOB (the program's file, or the script or "
	 "module that a Python runs), user:NAME, cgroup:GLOB, pid:NUMBER, or job:NUMBER for all "
	 "ranks that this process started. May be repeated.",
	 MONITOR(discovery.allow), .parse = parse_allow},
	{OPT_CUSTOM, "deny", 0, "RULE",
	 "Do not watch processes that a rule matches, whatever --allow says. job:NUMBER is a "
	 "process with all that it started. May be repeated.",
	 MONITOR(discovery.deny), .parse = parse_deny},
	{OPT_DURATION, "young", 0, "TIME",
	 "Do not watch a process until it has run this long (default 2m).",
	 MONITOR(discovery.young_ns)},
	{OPT_DURATION, "scan", 0, "TIME", "Look for jobs at this interval (default 10s).",
	 MONITOR(discovery.scan_ns), .min = 1},
	{OPT_UINT, "max-ranks", 0, "N", "Watch at most this many processes (default 16).",
	 MONITOR(ranks_max), .min = 1, .max = 1024},
	{OPT_GROUP, "Cost"},
	{OPT_CUSTOM, "budget", 0, "PERCENT",
	 "Share of a job's time that the probes of windows may cost (default 0.5%).",
	 MONITOR(budget), .parse = parse_budget},
	{OPT_CUSTOM, "max-duty", 0, "PERCENT",
	 "Largest share of time in which windows are open (default 2%).", MONITOR(max_duty),
	 .parse = parse_max_duty},
	{OPT_UINT, "window", 0, "STEPS", "Length of a window (default 20).", MONITOR(window_steps),
	 .min = 1, .max = 1000},
	{OPT_UINT, "all-ranks", 0, "N",
	 "Record each Nth window from all ranks of a job on this host at the same moment (default "
	 "8; 0: never). Such windows tell for which rank the others wait.",
	 MONITOR(all_ranks), .max = 1000000},
	{OPT_CHOICE, "device-times", 0, "WHETHER",
	 "Record when kernels and copies run on GPUs (default no). The monitor then loads "
	 "proftrace's library into processes that use CUDA. It stays there and does nothing "
	 "between windows.",
	 MONITOR(device_times), .choices = no_yes},
	{OPT_CUSTOM, "cpu", 0, "PROCESSORS",
	 "Limit for the processors that the monitor and its sessions use, over ten minutes "
	 "(default 0.1). Above it no window opens and no session begins.",
	 MONITOR(limits.cpu), .parse = parse_cpu},
	{OPT_UINT, "memory", 0, "BYTES",
	 "Limit for memory and BPF maps of the monitor and its sessions (default 512M).",
	 MONITOR(limits.memory_bytes), .min = 1u << 20, .unit = "bytes"},
	{OPT_CUSTOM, "max-pressure", 0, "PERCENT",
	 "No window opens while tasks of the host waited for a processor for a larger share of "
	 "the latest minute (default 80%).",
	 MONITOR(limits.pressure), .parse = parse_max_pressure},
	{OPT_GROUP, "Output"},
	{OPT_STRING, "listen", 0, "PLACE",
	 "Answer HTTP at 127.0.0.1:PORT, [::1]:PORT or a unix socket's path (default "
	 "127.0.0.1:9477).",
	 MONITOR(listen)},
	{OPT_STRING, "token-file", 0, "FILE",
	 "Open a window for whoever sends the first line of this file: POST "
	 "/jobs/PID/record?steps=N with Authorization: Bearer TOKEN (curl, or r in proftrace top). "
	 "at=@SECONDS opens it at that time. Without a token nobody can ask.",
	 offsetof(struct monitor_command, token_file), .file_arg = true},
	{OPT_CUSTOM, "pages", 0, "WHO",
	 "Who may see recordings at /jobs/PID/report.html (default owner). They have command "
	 "lines, "
	 "file names and stacks of all users' jobs. owner: who can connect to a unix socket, or "
	 "has "
	 "the token. all: whoever can connect.",
	 MONITOR(pages), .parse = parse_pages},
	{OPT_STRING, "store", 0, "DIRECTORY",
	 "Directory of the windows' recordings (default /var/lib/proftrace).", MONITOR(store),
	 .file_arg = true},
	{OPT_UINT, "keep", 0, "BYTES",
	 "Keep at most this much of the recordings; the oldest are removed first (default 1G).",
	 MONITOR(keep_bytes), .min = 1u << 20, .unit = "bytes"},
	{OPT_UINT, "max-series", 0, "N",
	 "Export at most this many series of jobs; others are counted as dropped (default 5000).",
	 MONITOR(series_max), .min = 50, .max = 1000000},
	{OPT_GROUP, "Receivers"},
	{OPT_STRING, "otlp", 0, "URL",
	 "Send the metrics to an OpenTelemetry receiver, as OTLP over HTTP: "
	 "http://127.0.0.1:4318/v1/metrics. Needs libcurl.",
	 MONITOR(otlp)},
	{OPT_DURATION, "otlp-interval", 0, "TIME", "Send them at this interval (default 15s).",
	 MONITOR(otlp_interval_ns), .min = 1000000000},
	{OPT_STRING, "pprof", 0, "URL",
	 "Send each window as pprof to a receiver with Pyroscope's way to ingest: "
	 "http://127.0.0.1:4040/ingest. It has names of functions and operators. Needs libcurl.",
	 MONITOR(pprof)},
	{OPT_GROUP, "Configuration"},
	{OPT_STRING, "config", 0, "FILE",
	 "Read options from this file, one NAME = VALUE per line. Options of the command line "
	 "apply after it.",
	 offsetof(struct monitor_command, config), .file_arg = true},
	{OPT_FLAG, "check", 0, NULL, "Check the options and the file, and exit.",
	 offsetof(struct monitor_command, check)},
	{OPT_END},
};

static void init(struct monitor_opts *o)
{
	*o = (struct monitor_opts){
		.store = "/var/lib/proftrace",
		.listen = "127.0.0.1:9477",
		.keep_bytes = 1ull << 30,
		.window_steps = 20,
		.all_ranks = 8,
		.series_max = 5000,
		.ranks_max = 16,
		.budget = 0.005,
		.max_duty = 0.02,
		.limits = {.cpu = 0.1, .memory_bytes = 512u << 20, .pressure = 0.8},
		.otlp_interval_ns = 15000000000ull,
		.discovery = {.scan_ns = 10000000000ull, .young_ns = 120000000000ull},
	};
}

static int check_receivers(const struct monitor_opts *o)
{
	struct curl_library curl;
	int err = listen_address__check(o->listen);

	if (!err && o->otlp)
		err = pusher__check_url("otlp", o->otlp);
	if (!err && o->pprof)
		err = pusher__check_url("pprof", o->pprof);
	if (err || (!o->otlp && !o->pprof))
		return err;
	return curl_library__load(&curl);
}

static int check(const struct monitor_opts *o)
{
	if (o->budget <= 0)
		return err__set(-EINVAL, MESSAGE_MONITOR_BUDGET_ZERO);
	if (o->max_duty <= 0 || o->max_duty > 1)
		return err__set(-EINVAL, MESSAGE_MONITOR_DUTY_INVALID);
	return check_receivers(o);
}

static void forget(struct monitor_command *c)
{
	rules__free(&c->o.discovery.allow);
	rules__free(&c->o.discovery.deny);
	free(c->config_text);
	free(c->token);
	*c = (struct monitor_command){0};
}

static int parse(struct monitor_command *c, int argc, char **argv)
{
	int rest, err;

	err = opts__parse(&command_monitor, argc, argv, c, false, &rest);
	if (!err && rest < argc)
		err = err__set(-EINVAL, MESSAGE_MONITOR_ARGUMENT_UNEXPECTED, argv[rest]);
	return err;
}

/* Options of the file are applied first, so its name is searched in the arguments first. */
static int parse_options(struct monitor_command *c, int argc, char **argv)
{
	const char *config;
	int err = parse(c, argc, argv);

	if (err || !c->config)
		return err ? err : check(&c->o);
	config = c->config;
	forget(c);
	init(&c->o);
	err = config_file__read(config, &command_monitor, c, &c->config_text);
	if (!err)
		err = parse(c, argc, argv);
	return err ? err : check(&c->o);
}

static int parse_all(struct monitor_command *c, int argc, char **argv)
{
	int err = parse_options(c, argc, argv);

	if (!err && c->token_file)
		err = token_file__read_secret(c->token_file, &c->token);
	c->o.token = c->token;
	return err;
}

/* The options that are in effect, and the arguments that they were made from. */
struct current {
	struct monitor_command *command;
	int argc;
	char **argv;
};

static bool is_same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static int refuse_changes(const struct monitor_opts *old, const struct monitor_opts *new)
{
	if (strcmp(old->listen, new->listen))
		return err__set(-EINVAL, MESSAGE_MONITOR_LISTEN_NEEDS_RESTART);
	if (strcmp(old->store, new->store))
		return err__set(-EINVAL, MESSAGE_MONITOR_STORE_NEEDS_RESTART);
	if (!is_same(old->token, new->token))
		return err__set(-EINVAL, MESSAGE_MONITOR_TOKEN_NEEDS_RESTART);
	if (old->pages != new->pages)
		return err__set(-EINVAL, MESSAGE_MONITOR_PAGES_NEEDS_RESTART);
	if (!is_same(old->otlp, new->otlp) || old->otlp_interval_ns != new->otlp_interval_ns ||
	    !is_same(old->pprof, new->pprof))
		return err__set(-EINVAL, MESSAGE_MONITOR_RECEIVERS_NEED_RESTART);
	if (old->series_max != new->series_max)
		return err__set(-EINVAL, MESSAGE_MONITOR_SERIES_NEEDS_RESTART);
	return 0;
}

static int reload(void *ctx, void (*apply)(void *to, const struct monitor_opts *opts), void *to)
{
	struct current *c = ctx;
	struct monitor_command *fresh;
	int err;

	if (!c->command->config)
		return err__set(-ENOENT, MESSAGE_MONITOR_WITHOUT_CONFIG);
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	init(&fresh->o);
	err = parse_all(fresh, c->argc, c->argv);
	if (!err)
		err = refuse_changes(&c->command->o, &fresh->o);
	if (!err) {
		struct monitor_command *old = c->command;

		fresh->o.reload = reload;
		fresh->o.reload_ctx = c;
		apply(to, &fresh->o);
		c->command = fresh;
		fresh = old;
	}
	forget(fresh);
	free(fresh);
	return err;
}

static int watch(const struct monitor_opts *o)
{
	int err = mounts__check_proc("/proc");

	if (!err)
		err = privilege__require();
	if (err)
		return err;
	descriptors__allow_most();
	return monitor__run(o);
}

static int run(int argc, char **argv)
{
	struct current current = {calloc(1, sizeof(*current.command)), argc, argv};
	struct monitor_command *c = current.command;
	int err;

	if (!c)
		return cli__fail(-ENOMEM);
	init(&c->o);
	err = parse_all(c, argc, argv);
	c->o.reload = reload;
	c->o.reload_ctx = &current;
	if (!err && !c->check)
		err = watch(&c->o);
	forget(current.command);
	free(current.command);
	return err ? cli__fail(err) : 0;
}

const struct command command_monitor = {
	.name = "monitor",
	.usage = "[options]",
	.summary = "Watches all machine-learning jobs of this host, and exports metrics.",
	.details =
		"Runs until it is stopped. It finds processes with a framework, groups ranks into "
		"jobs (SLURM_JOB_ID, TORCHELASTIC_RUN_ID, MASTER_ADDR, the launcher), counts their "
		"steps, and records short windows at random times. The monitor divides the budget "
		"by the estimated cost of windows. The result is the share of time in which "
		"windows are open; it is only ever lowered. After events were lost no window opens "
		"for 10 minutes. After two failed attaches no session begins for 10 minutes. Each "
		"further failure doubles the wait. 20 good windows, or 6 hours, halve it again.\n\n"
		"  /metrics  Prometheus text format 0.0.4\n"
		"  /jobs     the ranks as JSON\n"
		"  /jobs/PID one rank: HTML for a browser or with .html, else JSON\n"
		"  /jobs/PID/report.html  the page of its latest recording, see --pages\n"
		"  /         the jobs, for a browser\n"
		"  /health   200 while the monitor works\n\n"
		"SIGHUP: reads the file of --config again. What it says holds at once, but for "
		"--listen, "
		"--store, --token-file and --max-series. If the file has an error, all stays as it "
		"was.\n\n"
		"proftrace_regression is 1 if the step takes longer for good than in the job's "
		"first 60 windows. A job that ended is exported for 5 more minutes. Windows are "
		"ordinary recordings: `proftrace report` prints them.",
	.examples =
		"sudo proftrace monitor  # all jobs, metrics at http://127.0.0.1:9477/metrics\n"
		"sudo proftrace monitor --allow user:alice --deny 'program:ipykernel*'  # only "
		"hers\n"
		"sudo proftrace monitor --config /etc/proftrace/monitor.conf  # lines: keep = 10G\n"
		"sudo proftrace monitor --listen /run/proftrace-monitor.sock --keep 10G  # a unix "
		"socket",
	.opts = opts,
	.run = run,
};
