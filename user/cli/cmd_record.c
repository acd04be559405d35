// SPDX-License-Identifier: BSD-2-Clause
/* The default command: attach to a running process. */
#include "capture/processes/descendant.h"
#include "cli/job_record.h"
#include "cli/record_begin.h"
#include "cli/record_checks.h"
#include "cli/record_run.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include "inject/seccomp.h"
#include "privilege/file_process.h"
#include "target/rank.h"
#include <limits.h>
#include <unistd.h>

#define JOIN_S 15 /* time for late ranks to start */

extern const struct command command_record;

struct record_command {
	struct record_options options;
	struct pid_list {
		pid_t *items;
		size_t cnt, cap;
	} pids;
	uint64_t job;
};

/* "4242" or "4242,4243" */
static int parse_pids(const char *value, void *dest)
{
	struct pid_list *pids = dest;
	const char *at = value;

	for (char *end;; at = end + 1) {
		long pid = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
		int err;

		if (pid < 1 || pid > INT_MAX || (*end && *end != ','))
			return err__set(-EINVAL, MESSAGE_PID_INVALID, value);
		for (size_t i = 0; i < pids->cnt; i++)
			if (pids->items[i] == pid)
				return err__set(-EINVAL, MESSAGE_PID_GIVEN_TWICE, value, pid);
		err = ARRAY_PUSH(pids->items, pids->cnt, pids->cap, (pid_t)pid);
		if (err || !*end)
			return err;
	}
}

/* Waits, because ranks do not all start at the same time. */
static int await_ranks(pid_t launcher, struct ranks *ranks)
{
	const uint64_t until = clock__monotonic_ns() + JOIN_S * 1000000000ull;
	char names[RANKS_NAMES];
	bool told = false;
	int err;

	for (;;) {
		err = ranks__of_launcher(launcher, descendant__has_framework, ranks);
		ranks__name_missing(ranks, names, sizeof(names));
		/* A single process waits for nobody. */
		if ((err && err != -ENOENT) || ranks->cnt + ranks->missing_cnt < 2 ||
		    !ranks->missing_cnt || clock__monotonic_ns() > until)
			break;
		if (!told)
			log__info(MESSAGE_JOB_RANKS_AWAITED, JOIN_S, names);
		told = true;
		ranks__clear(ranks);
		if (err)
			err__take(err);
		usleep(300000);
	}
	if (!err && ranks->missing_cnt)
		log__warn(MESSAGE_JOB_PROCESS_LEFT_OUT, names);
	return err;
}

static int find_job(struct record_command *c)
{
	char names[RANKS_NAMES];
	struct ranks ranks;
	int err = await_ranks((pid_t)c->job, &ranks);

	ranks__name_serving(&ranks, names, sizeof(names));
	if (!err && names[0])
		log__info(MESSAGE_JOB_SERVER_LEFT_OUT, names);
	for (size_t i = 0; i < ranks.cnt && !err; i++)
		err = ARRAY_PUSH(c->pids.items, c->pids.cnt, c->pids.cap, ranks.items[i].pid);
	ranks__clear(&ranks);
	return err;
}

static bool is_any(pid_t pid)
{
	(void)pid;
	return true;
}

static bool is_among(const struct ranks *ranks, pid_t pid)
{
	for (size_t i = 0; i < ranks->cnt; i++)
		if (ranks->items[i].pid == pid)
			return true;
	return false;
}

/* Children of the process count as its workers, so the ranks of a launcher would be mixed. */
static void warn_of_launcher(pid_t pid)
{
	int rank, local_rank, world_size, err;
	struct ranks ranks;

	rank__read(pid, &rank, &local_rank, &world_size);
	if (rank >= 0)
		return;
	err = ranks__of_launcher(pid, is_any, &ranks);
	if (err)
		err__take(err); /* no launcher: an ordinary job */
	else if (!is_among(&ranks, pid) && ranks.cnt == 1)
		log__warn(MESSAGE_PID_IS_LAUNCHER_OF_ONE, pid, ranks.items[0].pid, pid);
	else if (!is_among(&ranks, pid))
		log__warn(MESSAGE_PID_IS_LAUNCHER, pid, ranks.cnt, ranks.items[0].pid, pid);
	ranks__clear(&ranks);
}

static int check_chosen(const struct record_command *c)
{
	if (c->job && c->pids.cnt)
		return err__set(-EINVAL, MESSAGE_PID_EXCLUDES_JOB);
	if (!c->job && !c->pids.cnt)
		return err__set(-EINVAL, MESSAGE_PID_MISSING);
	return 0;
}

/* Ranks that are found later inherit the filters of the process that started them. */
static bool is_filtered(const struct record_command *c)
{
	bool is = c->job && seccomp__is_filtered((pid_t)c->job);

	for (size_t i = 0; i < c->pids.cnt; i++)
		is |= seccomp__is_filtered(c->pids.items[i]);
	return is;
}

static int choose(struct record_command *c)
{
	if (c->job)
		return find_job(c);
	if (c->pids.cnt == 1)
		warn_of_launcher(c->pids.items[0]);
	return 0;
}

static int run(int argc, char **argv)
{
	struct record_command c = {0};
	int rest, err, status;

	record_options__init(&c.options, argv);
	err = opts__parse(&command_record, argc, argv, &c, false, &rest);
	if (!err && rest < argc)
		err = err__set(-EINVAL, MESSAGE_ARGUMENT_UNEXPECTED, argv[rest], argv[rest]);
	if (!err)
		err = record_checks__set_defaults(&c.options);
	if (!err)
		err = check_chosen(&c);
	if (!err)
		err = record_begin(&c.options, is_filtered(&c));
	if (!err)
		err = choose(&c);
	if (err) {
		status = cli__fail(err);
	} else if (c.pids.cnt > 1) {
		status = job_record__run(&c.options, c.pids.items, c.pids.cnt);
	} else {
		c.options.capture.pid = c.pids.items[0];
		status = record_run(&c.options);
	}
	file_process__leave();
	free(c.pids.items);
	return status;
}

static const struct opt opts[] = {
	{OPT_GROUP, "Target"},
	{OPT_CUSTOM, "pid", 'p', "PID[,PID...]",
	 "The process to profile. Several processes are the ranks of one job; each gets its own "
	 "recording.",
	 offsetof(struct record_command, pids), .parse = parse_pids},
	{OPT_UINT, "job", 0, "PID",
	 "All ranks that this process started (torchrun, mpirun, a shell).",
	 offsetof(struct record_command, job), .min = 1, .max = INT_MAX},
	{OPT_INCLUDE, .include = record_opts, .offset = offsetof(struct record_command, options)},
	{OPT_END},
};

const struct command command_record = {
	.usage = "[record] -p PID[,PID...] --record A:B [options]",
	.summary = "Profiles running machine-learning jobs that were not prepared for profiling.",
	.details =
		"Attaches to a running process, records the given steps, and detaches. Prints the "
		"tables that the framework's own profiler would have printed, and writes a "
		"recording and a trace. A program without a framework is profiled by the functions "
		"that --op names, by the marks of proftrace.h in it, and by its calls of CUDA.\n\n"
		"Without --record, --schedule or --duration it records until Ctrl-C. Ctrl-C ends a "
		"window and keeps it; a second one aborts. Needs root, or CAP_BPF, CAP_PERFMON, "
		"CAP_SYS_PTRACE (CAP_SYS_ADMIN on some kernels); `proftrace doctor` says which.",
	.examples = "sudo proftrace -p 4242 --record 2:10  # steps 2 to 9\n"
		    "sudo proftrace -p 4242 --duration 5s  # five seconds from the first step\n"
		    "sudo proftrace -p 4242 --record 0:3 --detail inner --record-shapes  # every "
		    "dispatch\n"
		    "sudo proftrace --job 4200 --record 2:10  # all ranks of torchrun, and who is "
		    "the straggler\n"
		    "sudo proftrace -p 4242 --record 2:10 --step-probe exe:server::handle --op "
		    "'exe:server::Model::*'  # a C++ server of no framework\n"
		    "sudo proftrace -p 4242 --schedule "
		    "skip_first=1,closed=1,ready=1,record=4,repeat=3  # "
		    "three recordings",
	.opts = opts,
	.run = run,
};
