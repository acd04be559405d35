// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/output_process.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "common/err.h"
#include "common/file_client.h"
#include "common/out_file.h"
#include "common/util.h"
#include "privilege/memory_limit.h"
#include "privilege/sandbox.h"

/* A process that is stopped is continued so often, then ended. */
#define CONTINUED_MAX 3
#define TWICE_NS      100000000

static bool is_inside; /* the sandbox */

/* Keeps the standard streams and the socket, which becomes the first behind them. */
static int keep_only(int socket)
{
	const int first = STDERR_FILENO + 1;

	if (socket != first && dup3(socket, first, O_CLOEXEC) < 0)
		return -errno;
	if (!syscall(SYS_close_range, first + 1, ~0u, 0))
		return first;
	for (long fd = sysconf(_SC_OPEN_MAX) - 1; fd > first; fd--) /* before Linux 5.9 */
		close((int)fd);
	return first;
}

static int in_sandbox(int (*run)(void *ctx), void *ctx, int socket, pid_t parent)
{
	unsigned int lacks = 0;
	int err;

	socket = keep_only(socket);
	err = socket < 0 ? socket : sandbox__enter(&lacks);
	if (err) {
		log__warn("cannot give up privileges for the output: %s; no output is made",
			  strerror(-err));
		return 1;
	}
	/* A change of user takes this back, so it stands behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	if (lacks)
		log__info("the output is made without %s: this kernel lacks it",
			  sandbox__name(lacks));
	is_inside = true;
	file_client__begin(socket);
	return run(ctx);
}

/* The output's process, which has another user: one of his may stop it. */
struct child {
	pid_t pid;
	unsigned int continued;
	bool given_up;
};

static bool is_stopped(pid_t pid, int options)
{
	siginfo_t info = {0};

	/* WNOWAIT: its end is for reap(). */
	return !UNINTERRUPTED(
		       waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT | options)) &&
	       info.si_pid == pid && info.si_code == CLD_STOPPED;
}

/* Ctrl-Z stops us as well: whoever looks twice and is not stopped, need not wait for `fg`. */
static void look(void *ctx)
{
	struct child *c = ctx;

	if (!is_stopped(c->pid, WNOHANG))
		return;
	nanosleep(&(struct timespec){.tv_nsec = TWICE_NS}, NULL);
	if (!is_stopped(c->pid, WNOHANG))
		return;
	c->given_up = c->continued == CONTINUED_MAX;
	c->continued++;
	kill(c->pid, c->given_up ? SIGKILL : SIGCONT);
}

static int reap(struct child *c, const struct file_places *places)
{
	int status;

	while (!c->given_up && is_stopped(c->pid, 0))
		look(c);
	if (UNINTERRUPTED(waitpid(c->pid, &status, 0)) < 0)
		return 1;
	if (c->given_up) {
		log__warn("the process that makes the output was stopped %d times by another "
			  "process, and was ended; `proftrace report %s` makes the output",
			  CONTINUED_MAX + 1, places->read_cnt ? places->read[0] : "FILE");
		return 1;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* As if it had been us: a reader that went away, Ctrl-C. */
	if (WTERMSIG(status) == SIGPIPE || WTERMSIG(status) == SIGINT)
		raise(WTERMSIG(status));
	log__warn("the process that makes the output was ended by signal %d (%s)", WTERMSIG(status),
		  strsignal(WTERMSIG(status)));
	return 1;
}

static int cannot(const char *what)
{
	log__warn("cannot make %s for the output: %s; no output is made", what, strerror(errno));
	return 1;
}

/* The process, or a negative number with a message. */
static pid_t start(int (*run)(void *ctx), void *ctx, const struct file_places *places, int socket)
{
	const pid_t parent = getpid();
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		memory_limit__set(places->read, places->read_cnt);
		status = in_sandbox(run, ctx, socket, parent);
		fflush(NULL);
		_exit(status);
	}
	if (pid < 0)
		cannot("a process");
	return pid;
}

/* A session has a process that opens files: the output's asks that one. */
static int run_in_session(int (*run)(void *ctx), void *ctx, const struct file_places *places)
{
	uint32_t unused = 0;
	const int socket = file_client__get_socket(FILE_OUTPUT, &unused);
	const char *why = out_file__explain(socket);
	struct child child = {0};

	if (socket < 0) {
		log__warn("no output is made: %s", why ? why : strerror(-socket));
		return 1;
	}
	child.pid = start(run, ctx, places, socket);
	close(socket);
	return child.pid > 0 ? reap(&child, places) : 1;
}

int output_process__run(int (*run)(void *ctx), void *ctx, struct file_places *places)
{
	struct child child = {0};
	int ends[2];

	if (is_inside)
		return run(ctx);
	if (file_client__is_on())
		return run_in_session(run, ctx, places);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return cannot("a pair of sockets");
	child.pid = start(run, ctx, places, ends[1]);
	close(ends[1]);
	if (child.pid > 0)
		file_broker__serve_and_look(ends[0], places, look, &child);
	close(ends[0]);
	return child.pid > 0 ? reap(&child, places) : 1;
}
