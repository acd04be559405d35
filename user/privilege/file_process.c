// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/file_process.h"
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "common/descriptors.h"
#include "common/err.h"
#include "common/message_table.h"
#include "privilege/message_table.h"
#include "common/file_client.h"
#include "common/util.h"
#include "privilege/rights.h"

static pid_t process; /* 0: we started none */

/* Ignores signals to the session's group: the session alone handles them. This process must outlive
 * the session, which cannot wait for a stopped process. */
static void ignore_signals(void)
{
	static const int ignored[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM,
				      SIGALRM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
}

static void serve(int socket, struct file_places *places)
{
	sigset_t none;

	rights__cut(RIGHTS_TO_OPEN);
	descriptors__allow_most();
	ignore_signals();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	file_broker__serve(socket, places);
}

int file_process__start(struct file_places *places)
{
	sigset_t all, before;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err__set(-errno, MESSAGE_SOCKETS_NOT_MADE, strerror(errno));
	fflush(NULL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before); /* our signal handlers must not run in it */
	process = fork();
	if (!process) {
		close(ends[1]);
		serve(ends[0], places);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	if (process < 0) {
		process = 0;
		close(ends[1]);
		return err__set(-errno, MESSAGE_FILE_PROCESS_NOT_MADE, strerror(errno));
	}
	file_client__begin(ends[1]);
	return 0;
}

int file_process__invite(void)
{
	uint32_t unused = 0;

	return file_client__is_on() ? file_client__get_socket(FILE_CLIENT, &unused) : -ENOTCONN;
}

void file_process__join(int socket)
{
	close(file_client__socket());
	file_client__begin(socket);
	process = 0;
}

void file_process__leave(void)
{
	if (!file_client__is_on())
		return;
	/* A child of ours may still have the socket open. */
	shutdown(file_client__socket(), SHUT_RDWR);
	close(file_client__socket());
	file_client__begin(-1);
	if (process)
		UNINTERRUPTED(waitpid(process, NULL, 0));
	process = 0;
}
