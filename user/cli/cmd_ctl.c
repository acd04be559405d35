// SPDX-License-Identifier: BSD-2-Clause
/* proftrace ctl: sends commands to a running session. */
#include <stdio.h>
#include <string.h>
#include "capture/control/control_socket.h"
#include "cli/cli.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/suggest.h"
#include "common/text_char.h"
#include "common/util.h"
#include "privilege/rights.h"
#include "privilege/sandbox.h"

extern const struct command command_ctl;

static int parse_pid(const char *text, pid_t *pid)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value <= 0 || value > INT32_MAX)
		return err__set(-EINVAL, MESSAGE_PROCESS_NUMBER_INVALID, text);
	*pid = (pid_t)value;
	return 0;
}

static int parse_verb(const char *text, enum control_verb *verb)
{
	struct suggestion near = {.word = text, .len = strlen(text)};

	for (int v = 0; v < CONTROL_CNT; v++) {
		if (!strcmp(text, control_verbs[v])) {
			*verb = v;
			return 0;
		}
		suggest__offer(&near, control_verbs[v]);
	}
	return near.best ? err__set(-EINVAL, MESSAGE_CTL_VERB_UNKNOWN_SUGGESTED, text, near.best)
			 : err__set(-EINVAL, MESSAGE_CTL_VERB_UNKNOWN, text);
}

/* The answer comes from another process, so it is read in a sandbox. */
static int ask(pid_t pid, enum control_verb verb, char *answer, size_t size)
{
	struct control_session session;
	int err;

	rights__cut(RIGHTS_TO_LEAVE);
	err = control_session__open(&session, pid);
	if (err)
		return err;
	err = sandbox__go_on(FILTER_OUTPUT, 0);
	if (!err)
		err = control_session__ask(&session, verb, answer, size);
	control_session__close(&session);
	return err;
}

static int run(int argc, char **argv)
{
	char answer[CONTROL_MAX];
	enum control_verb verb = CONTROL_STATUS;
	int rest, err;
	pid_t pid = 0;

	err = opts__parse(&command_ctl, argc, argv, NULL, false, &rest);
	if (!err && argc - rest != 2)
		err = err__set(-EINVAL, MESSAGE_CTL_ARGUMENTS_MISSING);
	if (!err)
		err = parse_pid(argv[rest], &pid);
	if (!err)
		err = parse_verb(argv[rest + 1], &verb);
	if (!err)
		err = ask(pid, verb, answer, sizeof(answer));
	if (err)
		return cli__fail(err);
	text__put_lines(stdout, answer);
	putchar('\n');
	return cli__finish(0);
}

const struct command command_ctl = {
	.name = "ctl",
	.usage = "PID VERB",
	.summary = "Start, pause, dump or end the windows of a session that runs.",
	.details =
		"PID is the process that is recorded. Windows open and close at steps, or at once "
		"if the process has no steps. A session that waits (--start-after, --start-at) or "
		"attaches accepts status, start, pause and stop; start ends the wait. While a "
		"session attaches it may take some seconds to answer; ctl then says so.\n\n"
		"  status  what the session does, and what it has written and lost\n"
		"  start   a window opens at the next step; also: resume\n"
		"  pause   the window ends with the step under way, and its file is complete;\n"
		"          only the probes that count steps stay, until start\n"
		"  dump    the file is complete with the step under way; a new file begins one\n"
		"          step later, and no file has the step between them (without steps:\n"
		"          some hundredths of a second)\n"
		"  reset   throws away what the window has recorded; a new file begins as with\n"
		"          dump\n"
		"  stop    ends the window now, then prints tables and writes traces, as Ctrl-C\n\n"
		"start and pause take over from --record and --schedule. Recordings after the "
		"first are HOST_PID.1.ptrec and so on. Root and the user who runs the session may "
		"send commands, through /run/proftrace/PID. If the session is not root's, the path "
		"is $XDG_RUNTIME_DIR/proftrace/PID.",
	.examples = "sudo proftrace -p 4242 --paused &  # attached, nothing is recorded\n"
		    "sudo proftrace ctl 4242 start  # from the next step on\n"
		    "sudo proftrace ctl 4242 pause  # the recording is complete\n"
		    "sudo proftrace ctl 4242 stop  # tables, and the end",
	.run = run,
};
