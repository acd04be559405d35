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
static volatile sig_atomic_t wants_terminal; /* it has read it, or tried to */
static volatile sig_atomic_t waits;	     /* it is stopped until it has it */

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

/* If the terminal is ours to give, or nobody needs it. */
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

/* As the terminal would: the whole group, which is what a shell waits for and continues. A group
 * for which no shell would do that is not stopped by the kernel either. */
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

/* Ctrl-Z while the terminal is ours: we follow when the program has stopped. */
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
	/* WNOWAIT: its end is for cmd_run.c to collect. */
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
	/* What we print, and that we take the terminal back, is no reason to stop. */
	handle(SIGTTOU, SIG_IGN);
	handle(SIGTSTP, on_stop);
	handle(SIGCONT, on_continue);
	handle(SIGCHLD, on_child);
	on_child(SIGCHLD); /* it may have been faster */
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
