// SPDX-License-Identifier: BSD-2-Clause
/* proftrace top: shows the monitor's jobs on a terminal. */
#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/own_monitor.h"
#include "cli/raw_csv.h"
#include "cli/token_file.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include "privilege/rights.h"
#include "top/monitor_client.h"
#include "top/top_print.h"
#include "top/top_screen.h"

extern const struct command command_top;

#define INTERVAL_MIN_NS 100000000
#define TIMEOUT_MS	5000
#define PIDS_MAX	65

struct top_command {
	const char *socket, *address, *token_file;
	uint64_t interval_ns, width, job;
	int format;
	bool once, raw_csv, device_times;
	struct rules watched; /* "pid:4242", or "job:4200" of --job */
	char rule_text[PIDS_MAX][16];
};

/* One process, or several separated by commas. May be repeated. */
static int parse_pids(const char *value, void *dest)
{
	struct top_command *c = dest;

	for (const char *at = value;; at++) {
		char *end;
		const unsigned long pid = strtoul(at, &end, 10);
		char *rule = c->rule_text[c->watched.cnt];
		int err;

		if (*at < '1' || *at > '9' || pid > INT_MAX || (*end && *end != ','))
			return err__set(-EINVAL, MESSAGE_TOP_PID_INVALID, value);
		if (c->watched.cnt == PIDS_MAX - 1)
			return err__set(-EINVAL, MESSAGE_TOP_PIDS_TOO_MANY, PIDS_MAX - 1);
		if (kill((pid_t)pid, 0) && errno == ESRCH)
			return err__set(-ESRCH, MESSAGE_TOP_PROCESS_MISSING, "pid", pid);
		snprintf(rule, sizeof(c->rule_text[0]), "pid:%lu", pid);
		err = rules__add(&c->watched, "pid", rule);
		if (err || !*end)
			return err;
		at = end;
	}
}

static const char *const formats[] = {"table", "json", "csv", NULL};

#define TOP(field) offsetof(struct top_command, field)

static const struct opt opts[] = {
	{OPT_GROUP, "The monitor"},
	{OPT_CUSTOM, "pid", 'p', "PID[,PID]",
	 "Without a monitor: watch these processes alone, until top ends. Needs the rights of "
	 "record.",
	 0, .parse = parse_pids},
	{OPT_UINT, "job", 0, "PID",
	 "Without a monitor: watch all ranks that this process started (torchrun, mpirun, a "
	 "shell), also ranks that start later.",
	 TOP(job), .min = 1, .max = INT_MAX},
	{OPT_FLAG, "device-times", 0, NULL,
	 "With -p or --job: load proftrace's library into processes that use CUDA, for figures of "
	 "GPUs. It stays there and does nothing between windows.",
	 TOP(device_times)},
	{OPT_STRING, "socket", 0, "PATH",
	 "Ask the monitor at this unix socket (its --listen PATH). Without --socket and --address: "
	 "/run/proftrace-monitor.sock, then 127.0.0.1:9477.",
	 TOP(socket), .file_arg = true},
	{OPT_STRING, "address", 0, "ADDRESS", "Ask the monitor at 127.0.0.1:PORT or [::1]:PORT.",
	 TOP(address)},
	{OPT_STRING, "token-file", 0, "FILE",
	 "Send the first line of this file as a bearer token with requests to record.",
	 TOP(token_file), .file_arg = true},
	{OPT_DURATION, "interval", 'i', "TIME", "Ask at this interval (default 2s).",
	 TOP(interval_ns)},
	{OPT_GROUP, "Output"},
	{OPT_FLAG, "once", 0, NULL, "Print the list once, without a terminal.", TOP(once)},
	{OPT_CHOICE, "format", 'f', "FORMAT", "How --once prints (default table).", TOP(format),
	 .choices = formats},
	RAW_CSV_OPT(TOP(raw_csv)),
	{OPT_UINT, "width", 0, "COLUMNS",
	 "Width of the table of --once, 80 or more (default: the terminal's, else 80).", TOP(width),
	 .min = 80, .max = 512},
	{OPT_END},
};

/* The rule notes which process this is, because its pid may be reused later. */
static int take_job(struct top_command *c)
{
	if (c->watched.cnt)
		return err__set(-EINVAL, MESSAGE_PID_EXCLUDES_JOB);
	if (kill((pid_t)c->job, 0) && errno == ESRCH)
		return err__set(-ESRCH, MESSAGE_TOP_PROCESS_MISSING, "job", c->job);
	snprintf(c->rule_text[0], sizeof(c->rule_text[0]), "job:%" PRIu64, c->job);
	return rules__add(&c->watched, "job", c->rule_text[0]);
}

static int parse(struct top_command *c, int argc, char **argv)
{
	int rest, err = opts__parse(&command_top, argc, argv, c, false, &rest);

	if (err)
		return err;
	if (rest < argc)
		return err__set(-EINVAL, MESSAGE_TOP_ARGUMENT_UNEXPECTED, argv[rest]);
	if (c->interval_ns < INTERVAL_MIN_NS)
		return err__set(-EINVAL, MESSAGE_TOP_INTERVAL_SMALL);
	if ((c->watched.cnt || c->job) && (c->socket || c->address || c->once))
		return err__set(-EINVAL, MESSAGE_TOP_PID_EXCLUDES);
	if (c->job) {
		err = take_job(c);
		if (err)
			return err;
	}
	if (c->device_times && !c->watched.cnt)
		return err__set(-EINVAL, MESSAGE_TOP_DEVICE_TIMES_NEED_PID);
	if (c->socket && c->address)
		return err__set(-EINVAL, MESSAGE_TOP_SOCKET_EXCLUDES_ADDRESS);
	if (!c->once && (c->format != TOP_TABLE || c->width || c->raw_csv))
		return err__set(-EINVAL, MESSAGE_TOP_OPTIONS_NEED_ONCE);
	if (c->socket && !strchr(c->socket, '/'))
		return err__set(-EINVAL, MESSAGE_TOP_SOCKET_WITHOUT_SLASH, c->socket, c->socket);
	if (c->address && strchr(c->address, '/'))
		return err__set(-EINVAL, MESSAGE_TOP_ADDRESS_IS_PATH, c->address);
	return c->socket || c->address ? monitor_client__check(c->socket ? c->socket : c->address)
				       : 0;
}

static int print_once(const struct top_command *c, const struct gather_opts *o)
{
	struct gathered g;
	struct top_print_opts print = {.format = c->format, .raw_csv = c->raw_csv};
	int err = gather__once(o, &g);

	if (err)
		return err__set_again(err == -EINVAL ? -EIO : err, g.problem);
	setlocale(LC_CTYPE, "");
	print.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	print.width = c->width ? (int)c->width : cli__width(STDOUT_FILENO);
	job_list__sort(g.jobs, ORDER_NAME);
	err = top_print__jobs(g.jobs, &print, stdout);
	job_list__free(g.jobs);
	return err;
}

static int check_terminal(void)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return 0;
	return err__set(-ENOTTY, MESSAGE_TOP_NEEDS_TERMINAL);
}

/* Runs a monitor of these processes alone, which ends with this program. */
static int show_alone(const struct top_command *c, const struct top_screen_opts *usual)
{
	struct top_screen_opts o = *usual;
	struct own_monitor m;
	int err = own_monitor__start(&m, &c->watched, c->device_times);

	if (err)
		return err;
	/* The answers come from another process, so rights are given up first. */
	rights__cut(RIGHTS_TO_LEAVE);
	o.gather.places[0] = m.socket;
	o.gather.places[1] = NULL;
	o.gather.token = m.token;
	o.log = m.log;
	o.awaiting = c->job ? "Looking for ranks of this launcher. For a process without a "
			      "rank: -p PID."
			    : "Looking for a framework in these processes.";
	err = top_screen__run(&o);
	own_monitor__stop(&m);
	return err;
}

static int show(const struct top_command *c, struct gather_opts *gather)
{
	struct top_screen_opts o = {
		.gather = *gather, .colours = cli__colours(STDOUT_FILENO), .log = -1};
	int err = c->once ? 0 : check_terminal();

	if (err)
		return err;
	if (c->watched.cnt)
		return show_alone(c, &o);
	rights__cut(RIGHTS_TO_LEAVE);
	return c->once ? print_once(c, gather) : top_screen__run(&o);
}

static int run(int argc, char **argv)
{
	struct top_command c = {.interval_ns = 2000000000};
	struct gather_opts o = {.timeout_ms = TIMEOUT_MS,
				.places = {"/run/proftrace-monitor.sock", "127.0.0.1:9477"}};
	auto_free char *token = NULL;
	int err = parse(&c, argc, argv);

	if (!err && c.token_file) {
		err = token_file__read(c.token_file, &token);
		o.token = token;
	}
	if (!err) {
		if (c.socket || c.address) {
			o.places[0] = c.socket ? c.socket : c.address;
			o.places[1] = NULL;
		}
		o.interval_ns = c.interval_ns;
		err = show(&c, &o);
	}
	rules__free(&c.watched);
	return err ? cli__fail(err) : 0;
}

const struct command command_top = {
	.name = "top",
	.usage = "[options]",
	.summary = "Shows the jobs of a running monitor on a terminal.",
	.details =
		"Asks `proftrace monitor`, which watches the jobs; -p and --job need none. The "
		"list has a row per job: "
		"step "
		"time of the slowest rank in its latest window, the step times of the latest "
		"windows since top began, phases in all windows, processors and GPUs in use, "
		"and findings. `-` "
		"is a figure that the monitor does not have. Enter opens a job: findings, "
		"operators, threads, "
		"ranks and recordings.\n\n"
		"  j k, arrows  choose a job, or scroll\n"
		"  Enter        open the job\n"
		"  s            sort by name, step time or number of findings\n"
		"  r            ask the monitor to record a window now\n"
		"  q, Esc       back; q ends top\n\n"
		"A terminal of 80 x 24 shows all columns. NO_COLOR turns colours off. Without a "
		"UTF-8 "
		"locale the bars are ASCII.\n\n"
		"r sends POST /jobs/PID/record with the token of --token-file; the monitor needs "
		"the same option. The figures of GPUs need the monitor's --device-times.",
	.examples = "sudo proftrace top -p 4242  # one process, without a monitor\n"
		    "sudo proftrace top --job 4200  # all ranks of torchrun, without a monitor\n"
		    "sudo proftrace monitor & proftrace top  # all jobs of this host\n"
		    "proftrace top --once --format json  # for scripts\n"
		    "sudo proftrace top --socket /run/proftrace-monitor.sock  # --listen PATH",
	.opts = opts,
	.run = run,
};
