// SPDX-License-Identifier: BSD-2-Clause
#include "cli/signals.h"
#include "cli/message_table.h"
#include "common/err.h"
#include "common/util.h"
#include <signal.h>
#include <unistd.h>

static const int ends[] = {SIGTERM, SIGHUP};	/* these end a capture, as SIGINT does */
static const int others[] = {SIGUSR1, SIGUSR2}; /* proftrace itself ignores these */

/* timeout(1) signals its child and then the child's group. When a terminal closes, both the kernel
 * and the shell send signals. So a signal shortly after another is the same request. Each Ctrl-C is
 * a request of its own. */
#define SAME_WISH_NS 300000000ULL

struct capture_stop signals_stop;

static volatile pid_t program; /* 0: we started none */
static volatile pid_t starter; /* our process, which started the program. Processes that write
				  output inherit this and must not pass signals on */

static void pass(int sig)
{
	if (program && getpid() == starter)
		kill(program, sig);
}

static void count_stop(int sig)
{
	static volatile uint64_t counted_ns;
	uint64_t now_ns = clock__monotonic_ns();

	if (sig != SIGINT && signals_stop.asked && now_ns - counted_ns < SAME_WISH_NS)
		return;
	counted_ns = now_ns;
	signals_stop.asked = signals_stop.asked + 1;
}

static void stop(int sig)
{
	static const char text[] = "proftrace: " MESSAGE_TEXT(MESSAGE_STOPPED_EARLY) "\n";
	static const char json[] =
		"{\"level\": \"error\", "
		"\"key\": \"" MESSAGE_KEY(
			MESSAGE_STOPPED_EARLY) "\", "
					       "\"arguments\": [], "
					       "\"text\": \"" MESSAGE_TEXT(
						       MESSAGE_STOPPED_EARLY) "\"}\n";

	if (sig != SIGINT)
		pass(sig);
	if (signals_stop.harmless) {
		ssize_t written = log__is_json() ? write(STDERR_FILENO, json, sizeof(json) - 1)
						 : write(STDERR_FILENO, text, sizeof(text) - 1);

		(void)written;
		_exit(1);
	}
	count_stop(sig);
}

static void interrupt_program(int sig)
{
	if (getpid() != starter)
		return;
	kill(-program, sig);
	count_stop(sig);
}

/* flags: without SA_RESTART a signal ends a wait. */
static void catch_one(int sig, void (*handler)(int), int flags)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct sigaction before;

	/* nohup: closing the terminal must have no effect. */
	if (sig == SIGHUP && !sigaction(sig, NULL, &before) && before.sa_handler == SIG_IGN)
		return;
	sigaction(sig, &action, NULL);
}

static void catch_ends(void (*handler)(int), int flags)
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		catch_one(ends[i], handler, flags);
}

/* While tables are printed, no capture needs an orderly end, so a signal ends proftrace. But if
 * proftrace started a program, the signal is passed to the program. Otherwise the program would go
 * on, and nobody would learn of its end. */
void signals__catch(bool on)
{
	catch_one(SIGINT, on ? stop : program ? interrupt_program : SIG_DFL, on ? 0 : SA_RESTART);
	catch_ends(on ? stop : program ? pass : SIG_DFL, on ? 0 : SA_RESTART);
	/* A closed pipe is reported as an error. Dying of SIGPIPE would leave probes attached. */
	catch_one(SIGPIPE, SIG_IGN, 0);
}

void signals__pass_to(pid_t pid)
{
	program = pid;
	starter = getpid();
	signals__catch(true);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		catch_one(others[i], pass, 0);
}

void signals__pass_all(void)
{
	catch_one(SIGINT, interrupt_program, 0);
	catch_ends(pass, 0);
}
