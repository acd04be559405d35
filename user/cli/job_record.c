// SPDX-License-Identifier: BSD-2-Clause
#include "cli/job_record.h"
#include "analysis/job/job.h"
#include "attach/attach.h"
#include "attach/privilege.h"
#include "capture/device/device_library.h"
#include "capture/rendezvous.h"
#include "cli/next_try.h"
#include "cli/place.h"
#include "cli/record_run.h"
#include "cli/signals.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/message_table.h"
#include "common/util.h"
#include "privilege/file_process.h"
#include "privilege/output_process.h"
#include "privilege/rights.h"
#include "target/rank.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct capture_process {
	pid_t pid;    /* of the capture; 0: none, or it has ended */
	pid_t target; /* of the rank */
	int said;     /* file in shared memory with the paths of its recordings, one per line; 0:
			 none */
	int ends;     /* pidfd of the capture, for poll(); -1: not available */
	char **paths;
	size_t path_cnt, path_cap;
	int status;
};

struct job_record {
	struct record_options *o;
	struct capture_process *captures;
	struct successor *places; /* of the recorded processes */
	size_t cnt;
	struct rendezvous *rendezvous;
};

/* ---- the capture of one rank ---- */

static void keep_apart(struct record_options *o, pid_t parent, pid_t target)
{
	/* setvbuf() needs this buffer: once stderr was used, the C library would keep its buffer of
	 * one byte. */
	static char line[4096];

	/* A Ctrl-C reaches the whole foreground group. So captures leave it, and only the parent
	 * passes the signal on. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	log__set_process(target, rank__find(target));
	setvbuf(stderr, line, _IOLBF, sizeof(line));
	o->no_progress = o->no_report = true;
}

static int capture_one(struct job_record *j, size_t index, pid_t parent)
{
	struct record_options o = *j->o;

	keep_apart(&o, parent, j->captures[index].target);
	o.capture.pid = j->captures[index].target;
	o.capture.rendezvous = j->rendezvous;
	o.capture.rendezvous_index = index;
	o.paths_fd = j->captures[index].said;
	return record_run(&o);
}

static int start_one(struct job_record *j, size_t index)
{
	struct capture_process *c = &j->captures[index];
	const pid_t parent = getpid();
	auto_close int files = file_process__invite();

	if (files < 0)
		return err__set(files, MESSAGE_FILE_PROCESS_NOT_REACHED, strerror(-files));
	c->said = memfd_create("recordings", MFD_CLOEXEC);
	if (c->said < 0)
		return err__set(-errno, MESSAGE_MEMORY_FILE_NOT_MADE, strerror(errno));
	fflush(NULL);
	c->pid = fork();
	if (!c->pid) {
		file_process__join(files);
		attach__forked();
		exit(capture_one(j, index, parent));
	}
	c->ends = c->pid > 0 ? (int)syscall(SYS_pidfd_open, c->pid, 0) : -1;
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	return err__set(-errno, MESSAGE_PROCESS_NOT_STARTED, strerror(errno));
}

/* ---- all of them ---- */

static void signal_all(const struct job_record *j, int sig)
{
	for (size_t i = 0; i < j->cnt; i++)
		if (j->captures[i].pid)
			kill(j->captures[i].pid, sig);
}

static void ended(struct job_record *j, size_t index, int status)
{
	struct capture_process *c = &j->captures[index];

	c->pid = 0;
	if (c->ends >= 0)
		close(c->ends);
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	if (WIFSIGNALED(status))
		log__warn(MESSAGE_CAPTURE_KILLED, c->target, WTERMSIG(status));
	rendezvous__come(j->rendezvous, index);
}

/* Sleeps until a capture ends or a signal comes. Signals are blocked at other times, so none is
 * missed. */
static void sleep_long(const struct job_record *j, sig_atomic_t handed_on, const sigset_t *usual)
{
	const struct timespec unheard = {.tv_nsec = 50000000}, most = {.tv_sec = 10};
	struct pollfd fds[RENDEZVOUS_MAX];
	bool heard = true;

	for (size_t i = 0; i < j->cnt; i++) {
		fds[i] = (struct pollfd){.fd = j->captures[i].pid ? j->captures[i].ends : -1,
					 .events = POLLIN};
		heard &= !j->captures[i].pid || fds[i].fd >= 0;
	}
	if (handed_on >= signals_stop.asked)
		ppoll(fds, j->cnt, heard ? &most : &unheard, usual);
}

static void wait_all(struct job_record *j)
{
	sig_atomic_t handed_on = 0;
	sigset_t ends, usual;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &usual);

	for (size_t left = j->cnt; left;) {
		for (; handed_on < signals_stop.asked; handed_on++)
			signal_all(j, SIGINT);
		left = 0;
		for (size_t i = 0; i < j->cnt; i++) {
			pid_t pid = j->captures[i].pid;
			int status;

			if (pid && waitpid(pid, &status, WNOHANG) == pid)
				ended(j, i, status);
			left += j->captures[i].pid != 0;
		}
		if (left)
			sleep_long(j, handed_on, &usual);
	}
	sigprocmask(SIG_SETMASK, &usual, NULL);
}

static int paths_read(struct capture_process *c)
{
	char memory[32];
	auto_free char *text = NULL;
	int err = 0;

	snprintf(memory, sizeof(memory), "/proc/self/fd/%d", c->said);
	text = file__read(memory, NULL);
	for (char *line = text; line && *line && !err;) {
		size_t len = strcspn(line, "\n");
		char *path = strndup(line, len);

		err = path ? ARRAY_PUSH(c->paths, c->path_cnt, c->path_cap, path) : -ENOMEM;
		if (err)
			free(path);
		line += len + (line[len] == '\n');
	}
	return err;
}

static int capture_all(struct job_record *j)
{
	int err = 0;

	signals__catch(true);
	for (size_t i = 0; i < j->cnt && !err; i++)
		err = start_one(j, i);
	/* The captures have rights of their own. */
	rights__enter(RIGHTS_END, false);
	device_library__give_up_loading();
	if (err)
		signal_all(j, SIGTERM);
	/* Captures that were started must detach properly, even after an error here. */
	wait_all(j);
	signals__catch(false);
	for (size_t i = 0; i < j->cnt && !err; i++)
		err = paths_read(&j->captures[i]);
	return err;
}

/* ---- the report ---- */

/* Shows one window: the recordings of all ranks that have it. */
static int show_window(const struct job_record *j, size_t window)
{
	FILE *const out = j->o->tables.file;
	const struct report_opts report = report_args__opts(&j->o->report, fileno(out));
	auto_free const char **paths = calloc(j->cnt, sizeof(*paths));
	size_t cnt = 0;
	int err, unwritten;

	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < j->cnt; i++)
		if (window < j->captures[i].path_cnt)
			paths[cnt++] = j->captures[i].paths[window];
	err = job__print(paths, cnt, &report, out);
	unwritten = report_out__flush(&j->o->tables);
	return err ? err : unwritten;
}

static size_t window_cnt(const struct job_record *j)
{
	size_t cnt = 0;

	for (size_t i = 0; i < j->cnt; i++)
		if (j->captures[i].path_cnt > cnt)
			cnt = j->captures[i].path_cnt;
	return cnt;
}

static int make_output(void *ctx)
{
	const struct job_record *j = ctx;
	int err = report_out__open(&j->o->tables);

	for (size_t w = 0; w < window_cnt(j) && !err; w++)
		err = show_window(j, w);
	report_out__close(&j->o->tables);
	if (!err && !j->o->report.tables)
		log__info(MESSAGE_RANK_REPORTS_OFFERED);
	return cli__finish(err ? cli__fail(err) : 0);
}

static int find_places(const struct job_record *j, struct file_places *places)
{
	int err = file_places__add_write(places, j->o->tables.path, false);

	for (size_t i = 0; i < j->cnt; i++)
		for (size_t k = 0; k < j->captures[i].path_cnt && !err; k++)
			err = file_places__add_read(places, j->captures[i].paths[k]);
	return err;
}

/* Exit status; 0 also without recordings. */
static int show(struct job_record *j)
{
	struct file_places places = {0};
	int err = 0, status = 0;

	for (size_t i = 0; i < j->cnt && !err; i++)
		err = report_out__spare(&j->o->tables, j->captures[i].paths,
					j->captures[i].path_cnt);
	if (!err)
		err = find_places(j, &places);
	if (err)
		status = cli__fail(err);
	else if (window_cnt(j))
		status = output_process__run(make_output, j, &places);
	file_places__free(&places);
	return status;
}

static int check(const struct record_options *o, size_t cnt)
{
	int err = report_args__check_job(&o->report);

	if (err)
		return err;
	if (cnt > RENDEZVOUS_MAX)
		return err__set(-EINVAL, MESSAGE_RANKS_TOO_MANY, cnt, RENDEZVOUS_MAX);
	if (o->capture.in_memory)
		return err__set(-EINVAL, MESSAGE_IN_MEMORY_EXCLUDES_JOB);
	if (o->capture.output && !place__is_directory(o->capture.output))
		return err__set(-EINVAL, MESSAGE_JOB_OUTPUT_NO_DIRECTORY, o->capture.output);
	if (o->trace && !o->no_trace && !place__is_directory(o->trace))
		return err__set(-EINVAL, MESSAGE_JOB_TRACE_NO_DIRECTORY, o->trace);
	if (o->html && !place__is_directory(o->html))
		return err__set(-EINVAL, MESSAGE_JOB_PAGE_NO_DIRECTORY, o->html);
	return privilege__require();
}

static void capture_process_free(struct capture_process *c)
{
	for (size_t i = 0; i < c->path_cnt; i++)
		free(c->paths[i]);
	free(c->paths);
	if (c->said > 0)
		close(c->said);
}

int job_record__run(struct record_options *o, const pid_t *pids, size_t cnt)
{
	auto_free struct capture_process *captures = calloc(cnt, sizeof(*captures));
	auto_free struct successor *places = calloc(cnt, sizeof(*places));
	struct job_record j = {.o = o, .captures = captures, .places = places, .cnt = cnt};
	int err = captures && places ? check(o, cnt) : -ENOMEM, status = 0, shown = 0;

	if (err)
		return cli__fail(err);
	j.rendezvous = mmap(NULL, sizeof(*j.rendezvous), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (j.rendezvous == MAP_FAILED)
		return cli__fail(err__set(-errno, MESSAGE_SHARED_MEMORY_NOT_MADE, strerror(errno)));
	j.rendezvous->cnt = cnt;
	for (size_t i = 0; i < cnt; i++) {
		captures[i].target = pids[i];
		successor__prepare(&places[i], pids[i]);
	}
	err = capture_all(&j);
	if (!err && !o->no_report && signals_stop.asked < 2)
		shown = show(&j);
	if (!err && !shown && signals_stop.asked < 2)
		next_try__describe(places, cnt);
	for (size_t i = 0; i < cnt; i++) {
		status = captures[i].status > status ? captures[i].status : status;
		capture_process_free(&captures[i]);
		successor__free(&places[i]);
	}
	munmap(j.rendezvous, sizeof(*j.rendezvous));
	return err ? cli__fail(err) : shown ? shown : status;
}
