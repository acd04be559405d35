// SPDX-License-Identifier: BSD-2-Clause
#include "inject/filter_reader.h"
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "common/descriptor_message.h"
#include "common/capability.h"
#include "common/capability_set.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/message_table.h"
#include "inject/message_table.h"
#include "common/util.h"
#include "inject/tracee.h"

#define STOP_NS	  100000000
#define PATIENT_S 2 /* how long each side waits for the other */

struct request {
	pid_t pid, tid;
};

struct answer {
	int err;
	uint32_t cnt; /* number of the following messages, one per filter */
	uint32_t stops;
	uint64_t stopped_ns;
};

static int reader = -1; /* socket of the reader process */

void filters__clear(struct filters *f)
{
	for (size_t i = 0; i < f->cnt; i++)
		free(f->insns[i]);
	*f = (struct filters){0};
}

/* ---- in the process ---- */

struct reading {
	struct request request;
	struct filters filters;
	int err;
};

/* 1: read one more; 0: there are no more; or a negative errno. */
static int read_next(pid_t tid, struct filters *f)
{
	long len = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, f->cnt, NULL);
	struct sock_filter *insns;

	if (len < 0)
		return errno == ENOENT ? 0 : -errno;
	if (f->cnt == FILTERS_MAX)
		return -E2BIG;
	if (!len || len > BPF_MAXINSNS)
		return -EINVAL;
	insns = calloc((size_t)len, sizeof(*insns));
	if (!insns)
		return -ENOMEM;
	if (ptrace(PTRACE_SECCOMP_GET_FILTER, tid, f->cnt, insns) != len) {
		free(insns);
		return -EINVAL;
	}
	f->insns[f->cnt] = insns;
	f->lens[f->cnt++] = (size_t)len;
	return 1;
}

static int read_all(pid_t tid, struct filters *f)
{
	int ret;

	do
		ret = read_next(tid, f);
	while (ret > 0);
	return ret;
}

/* When this thread ends, the kernel releases a tracee that did not stop in time. */
static void *read_thread(void *arg)
{
	struct reading *r = arg;
	struct tracee h = {0};
	int put_back;

	r->err = tracee__stop(&h, r->request.pid, r->request.tid, clock__monotonic_ns() + STOP_NS);
	if (!r->err) {
		r->err = read_all(r->request.tid, &r->filters);
		put_back = tracee__let_go(&h);
		r->err = r->err ? r->err : put_back;
	}
	r->filters.stops = h.stops;
	r->filters.stopped_ns = h.stopped_ns;
	return NULL;
}

static bool send_message(int socket, const void *data, size_t size)
{
	return send(socket, data, size, MSG_NOSIGNAL | MSG_EOR) == (ssize_t)size;
}

static void send_answer(int socket, const struct reading *r)
{
	const struct answer answer = {.err = r->err,
				      .cnt = r->err ? 0 : (uint32_t)r->filters.cnt,
				      .stops = r->filters.stops,
				      .stopped_ns = r->filters.stopped_ns};
	bool sent = send_message(socket, &answer, sizeof(answer));

	for (uint32_t i = 0; sent && i < answer.cnt; i++)
		sent = send_message(socket, r->filters.insns[i],
				    r->filters.lens[i] * sizeof(*r->filters.insns[i]));
}

static void serve(const struct request *request, int answer)
{
	const struct timeval patient = {.tv_sec = PATIENT_S};
	struct reading r = {.request = *request};
	pthread_t thread;

	setsockopt(answer, SOL_SOCKET, SO_SNDTIMEO, &patient, sizeof(patient));
	if (pthread_create(&thread, NULL, read_thread, &r))
		r.err = -EAGAIN;
	else
		pthread_join(thread, NULL);
	send_answer(answer, &r);
	filters__clear(&r.filters);
}

static void serve_all(int socket)
{
	for (;;) {
		struct request request;
		auto_close int answer = -1;
		const ssize_t len =
			descriptor_message__receive(socket, &request, sizeof(request), &answer, 0);

		if (len <= 0)
			return;
		if (len == sizeof(request) && answer >= 0)
			serve(&request, answer);
	}
}

/* Keeps two descriptors: the socket, and one for an answer. */
static void give_up_files(void)
{
	const struct rlimit two = {2, 2}, none = {0};

	setrlimit(RLIMIT_NOFILE, &two);
	setrlimit(RLIMIT_FSIZE, &none);
	setrlimit(RLIMIT_CORE, &none);
}

/* While a thread waits for it, nobody goes before it. Signals are for the session to heed. */
static void run_reader(int socket)
{
	const struct sched_param first = {.sched_priority = 1};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	socket = descriptors__keep_only(socket, 0);
	give_up_files();
	if (socket < 0 ||
	    capability_set__keep(CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_SYS_PTRACE)))
		return;
	serve_all(socket);
}

/* ---- in the session ---- */

/* Makes the reader an orphan, so its parent need not wait for its end. Other sessions may keep it
 * alive. */
static int fork_reader(int ends[2])
{
	pid_t between = fork();

	if (!between) {
		close(ends[1]);
		if (!fork())
			run_reader(ends[0]);
		_exit(0);
	}
	if (between < 0)
		return -errno;
	UNINTERRUPTED(waitpid(between, NULL, 0));
	return 0;
}

int filter_reader__start(void)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err__set(-errno, MESSAGE_SOCKETS_NOT_MADE, strerror(errno));
	fflush(NULL);
	err = fork_reader(ends);
	close(ends[0]);
	if (err) {
		close(ends[1]);
		return err__set(err, MESSAGE_SECCOMP_READER_NOT_STARTED, strerror(-err));
	}
	reader = ends[1];
	return 0;
}

void filter_reader__end(void)
{
	if (reader >= 0)
		close(reader);
	reader = -1;
}

static int receive_filter(int socket, struct filters *f)
{
	struct sock_filter insns[BPF_MAXINSNS];
	const ssize_t size = UNINTERRUPTED(recv(socket, insns, sizeof(insns), 0));

	if (size <= 0 || (size_t)size % sizeof(*insns))
		return size < 0 ? -errno : -EPIPE;
	f->insns[f->cnt] = malloc((size_t)size);
	if (!f->insns[f->cnt])
		return -ENOMEM;
	memcpy(f->insns[f->cnt], insns, (size_t)size);
	f->lens[f->cnt++] = (size_t)size / sizeof(*insns);
	return 0;
}

static int receive(int socket, struct filters *f)
{
	struct answer answer;
	const ssize_t size = UNINTERRUPTED(recv(socket, &answer, sizeof(answer), 0));
	int err = size < 0 ? -errno : size < (ssize_t)sizeof(answer) ? -EPIPE : answer.err;

	if (size < (ssize_t)sizeof(answer))
		return err;
	f->stops = answer.stops;
	f->stopped_ns = answer.stopped_ns;
	for (uint32_t i = 0; !err && i < answer.cnt && i < FILTERS_MAX; i++)
		err = receive_filter(socket, f);
	return err;
}

static int ask(const struct request *request, struct filters *f)
{
	const struct timeval patient = {.tv_sec = PATIENT_S};
	int ends[2], err;

	if (reader < 0)
		return -ENOTCONN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patient, sizeof(patient));
	err = descriptor_message__send(reader, request, sizeof(*request), ends[1], 0);
	close(ends[1]);
	if (!err)
		err = receive(ends[0], f);
	close(ends[0]);
	return err;
}

int filter_reader__read(pid_t pid, pid_t tid, struct filters *out)
{
	const struct request request = {pid, tid};
	int err;

	*out = (struct filters){0};
	err = ask(&request, out);
	if (!err || err == -ESRCH || err == -EAGAIN)
		return err;
	if (err == -E2BIG)
		return err__set(-EACCES, MESSAGE_SECCOMP_FILTERS_TOO_MANY, pid, FILTERS_MAX);
	return err__set(-EACCES, MESSAGE_SECCOMP_FILTER_UNREADABLE, pid, strerror(-err));
}
