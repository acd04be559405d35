// SPDX-License-Identifier: BSD-2-Clause
#include "cli/job_control.h"
#include "common/util.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t program;
static volatile int terminal = -1;
static volatile sig_atomic_t wants_terminal; /* the program has read the terminal, or tried to */
static volatile sig_atomic_t waits;	     /* the program is stopped until it gets the terminal */

static void handle(int sig, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(sig, &action, NULL);
}

static void take_back(void)
{
	if (tcgetpgrp(terminal) == program)
		tcsetpgrp(terminal, getpgrp());
}

/* Continues the program, if we can give it the terminal or nobody needs it. */
static void resume(void)
{
	const pid_t owner = tcgetpgrp(terminal);
	const bool is_ours = owner == getpgrp();

	if (is_ours && wants_terminal)
		tcsetpgrp(terminal, program);
	if (waits && !is_ours && owner != program)
		return;
	waits = false;
	kill(-program, SIGCONT);
}

/* Stops the whole group, as the terminal does: a shell waits for that group and continues it. The
 * kernel does not stop a group that no shell would continue. */
static void stop_ourselves(int sig)
{
	struct sigaction usual;

	take_back();
	sigaction(sig, NULL, &usual);
	handle(sig, SIG_DFL);
	kill(0, sig);
	sigaction(sig, &usual, NULL);
	resume();
}

/* Ctrl-Z while the terminal is ours: this process stops after the program has stopped. */
static void on_stop(int sig)
{
	const int saved = errno;

	kill(-program, sig);
	errno = saved;
}

static void on_continue(int sig)
{
	const int saved = errno;

	(void)sig;
	resume();
	errno = saved;
}

static void stopped(int sig)
{
	if (sig == SIGTSTP) {
		stop_ourselves(sig);
	} else if (sig == SIGTTIN || sig == SIGTTOU) {
		const pid_t owner = tcgetpgrp(terminal);

		wants_terminal = waits = true;
		if (owner == getpgrp() || owner == program)
			resume();
		else
			stop_ourselves(sig);
	}
}

static void ended(void)
{
	take_back();
	handle(SIGTSTP, SIG_DFL);
	handle(SIGCONT, SIG_DFL);
}

static void on_child(int sig)
{
	const int saved = errno;
	siginfo_t info = {0};

	(void)sig;
	/* WNOWAIT leaves the exit status for cmd_run.c. */
	if (!waitid(P_PID, (id_t)program, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) &&
	    info.si_pid == program) {
		if (info.si_code == CLD_STOPPED)
			stopped(info.si_status);
		else if (info.si_code != CLD_TRAPPED)
			ended();
	}
	errno = saved;
}

void job_control__begin(pid_t pid)
{
	terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (terminal < 0)
		return;
	program = pid;
	/* Printing, and taking the terminal back, must not stop this process. */
	handle(SIGTTOU, SIG_IGN);
	handle(SIGTSTP, on_stop);
	handle(SIGCONT, on_continue);
	handle(SIGCHLD, on_child);
	on_child(SIGCHLD); /* the program may have stopped already */
}

void job_control__end(void)
{
	if (terminal < 0)
		return;
	handle(SIGCHLD, SIG_DFL);
	ended();
	close(terminal);
	terminal = -1;
}
