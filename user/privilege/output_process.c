// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/output_process.h"
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "common/descriptors.h"
#include "common/err.h"
#include "privilege/message_table.h"
#include "common/file_client.h"
#include "common/out_file.h"
#include "common/util.h"
#include "privilege/memory_limit.h"
#include "privilege/sandbox.h"

/* A stopped process is continued. It is ended after it was stopped for so long in total. The user
 * who stops it cannot know when we look. */
#define STOPPED_MAX_NS	1000000000
#define LOOK_MIN_MS	50
#define LOOK_JITTER_MS	100
#define LOOK_MAX_NS	200000000
#define CALL_pidfd_open 434
#define TWICE_NS	1000000
#define TWICE_MOST_NS	200000000 /* a longer pause means that this process was stopped, too */

static bool is_inside; /* this process is in the sandbox */

/* Closes all descriptors but the socket, which may get another number, and the held files. 0 or a
 * negative errno. */
static int keep(int *socket, const struct file_places *places)
{
	const size_t cnt = 1 + places->held_cnt;
	auto_free int *fds = calloc(cnt, sizeof(*fds));
	int err;

	if (!fds)
		return -ENOMEM;
	fds[0] = *socket;
	for (size_t i = 0; i < places->held_cnt; i++)
		fds[1 + i] = places->held[i].fd;
	err = descriptors__keep(fds, cnt, STDERR_FILENO + 1);
	*socket = fds[0];
	for (size_t i = 0; i < places->held_cnt; i++)
		places->held[i].fd = fds[1 + i];
	file_client__hold(places->held, places->held_cnt);
	return err;
}

static int in_sandbox(int (*run)(void *ctx), void *ctx, int socket,
		      const struct file_places *places, pid_t parent)
{
	unsigned int lacks = 0;
	int err = keep(&socket, places);

	if (!err)
		err = sandbox__enter(&lacks);
	if (err) {
		log__warn(MESSAGE_OUTPUT_PRIVILEGES_KEPT, strerror(-err));
		return 1;
	}
	/* Changing the user undoes it, so it comes afterwards. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	if (lacks)
		log__info(MESSAGE_OUTPUT_UNPROTECTED, sandbox__name(lacks));
	is_inside = true;
	file_client__begin(socket);
	return run(ctx);
}

/* The process that makes the output. It has another user, whose processes may stop it. */
struct child {
	pid_t pid;
	uint64_t looked_ns, next_ns, stopped_ns;
	bool given_up;
};

static bool is_stopped(pid_t pid)
{
	siginfo_t info = {0};

	/* WNOWAIT leaves the exit status for reap(). */
	return !UNINTERRUPTED(
		       waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG)) &&
	       info.si_pid == pid && info.si_code == CLD_STOPPED;
}

/* Ctrl-Z stops both processes, one a moment earlier. Then they continue together. */
static bool are_stopped_too(void)
{
	uint64_t begin_ns = clock__monotonic_ns();

	nanosleep(&(struct timespec){.tv_nsec = TWICE_NS}, NULL);
	return clock__monotonic_ns() - begin_ns > TWICE_MOST_NS;
}

/* Called at times that a user cannot guess. So the share of looks that find it stopped is the share
 * of time. */
static void look(void *ctx)
{
	struct child *c = ctx;
	uint64_t now = clock__monotonic_ns(), passed;
	uint16_t random = 0;

	if (now < c->next_ns)
		return;
	passed = c->looked_ns ? now - c->looked_ns : 0;
	if (is_stopped(c->pid)) {
		if (!are_stopped_too())
			c->stopped_ns += passed < LOOK_MAX_NS ? passed : LOOK_MAX_NS;
		c->given_up = c->stopped_ns > STOPPED_MAX_NS;
		kill(c->pid, c->given_up ? SIGKILL : SIGCONT);
	}
	getrandom(&random, sizeof(random), GRND_NONBLOCK);
	c->looked_ns = clock__monotonic_ns();
	c->next_ns = c->looked_ns + (LOOK_MIN_MS + random % LOOK_JITTER_MS) * 1000000ull;
}

/* Waits until the child ends, or until the next look is due. Linux before 5.3 has no pidfd, so it
 * polls there. */
static bool await_end(const struct child *c, int pidfd)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	siginfo_t info = {0};

	poll(&end, 1, pidfd < 0 ? 10 : LOOK_MIN_MS);
	return UNINTERRUPTED(waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT | WNOHANG)) ||
	       info.si_pid == c->pid;
}

static int reap(struct child *c, const struct file_places *places)
{
	auto_close int pidfd = (int)syscall(CALL_pidfd_open, c->pid, 0);
	int status;

	while (!c->given_up && !await_end(c, pidfd))
		look(c);
	if (UNINTERRUPTED(waitpid(c->pid, &status, 0)) < 0)
		return 1;
	if (c->given_up) {
		log__warn(MESSAGE_OUTPUT_PROCESS_STOPPED, (int)(STOPPED_MAX_NS / 1000000000),
			  places->read_cnt && !places->held_cnt ? places->read[0] : "FILE");
		return 1;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* As if this process had got the signal: a reader closed the pipe, or Ctrl-C. */
	if (WTERMSIG(status) == SIGPIPE || WTERMSIG(status) == SIGINT)
		raise(WTERMSIG(status));
	log__warn(MESSAGE_OUTPUT_PROCESS_KILLED, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return 1;
}

static int cannot(const char *what)
{
	log__warn(MESSAGE_OUTPUT_PROCESS_NOT_MADE, what, strerror(errno));
	return 1;
}

/* The process, or a negative number after a message. */
static pid_t start(int (*run)(void *ctx), void *ctx, const struct file_places *places, int socket)
{
	const pid_t parent = getpid();
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		memory_limit__set(places->read, places->read_cnt);
		status = in_sandbox(run, ctx, socket, places, parent);
		fflush(NULL);
		_exit(status);
	}
	if (pid < 0)
		cannot("a process");
	return pid;
}

/* In a session, another process opens files. The output's process asks that one. */
static int run_in_session(int (*run)(void *ctx), void *ctx, const struct file_places *places)
{
	uint32_t unused = 0;
	const int socket = file_client__get_socket(FILE_OUTPUT, &unused);
	const char *why = out_file__explain(socket);
	struct child child = {0};

	if (socket < 0) {
		log__warn(MESSAGE_OUTPUT_FAILED, why ? why : strerror(-socket));
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
