// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/child.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "common/err.h"
#include "common/own_program.h"
#include "common/message_table.h"
#include "monitor/message_table.h"
#include "common/util.h"

#define CANNOT_RUN 127

static void limit(int resource, rlim_t most)
{
	const struct rlimit to = {most, most};

	if (most)
		setrlimit((__rlimit_resource_t)resource, &to);
}

static void become(char *const argv[], const struct child_limits *limits, pid_t parent)
{
	const int none = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t nothing;

	/* Ctrl-C is for the monitor alone, which ends its sessions in order. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, limits->death_signal);
	if (getppid() != parent || none < 0)
		_exit(CANNOT_RUN);
	limit(RLIMIT_FSIZE, limits->file_bytes);
	limit(RLIMIT_DATA, limits->data_bytes);
	sigemptyset(&nothing);
	sigprocmask(SIG_SETMASK, &nothing, NULL);
	setenv("PROFTRACE_MESSAGES", log__is_json() ? "json" : "text", true);
	dup2(none, STDIN_FILENO);
	dup2(limits->out >= 0 ? limits->out : none, STDOUT_FILENO);
	own_program__exec(argv);
	_exit(CANNOT_RUN);
}

int child__start(char *const argv[], const struct child_limits *limits, struct child *out)
{
	const pid_t parent = getpid();
	pid_t pid;
	int err;

	fflush(NULL);
	out->pid = fork();
	if (!out->pid)
		become(argv, limits, parent);
	if (out->pid < 0) {
		out->pid = 0;
		return err__set(-errno, MESSAGE_PROCESS_NOT_STARTED, strerror(errno));
	}
	out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0);
	if (out->pidfd >= 0)
		return 0;
	err = -errno;
	pid = out->pid;
	kill(pid, SIGKILL);
	child__wait(out);
	return err__set(err, MESSAGE_PROCESS_END_NOT_WATCHED, pid, strerror(-err));
}

int child__wait(struct child *c)
{
	int status = 0;

	if (c->pid)
		UNINTERRUPTED(waitpid(c->pid, &status, 0));
	c->pid = 0;
	return status;
}
