// SPDX-License-Identifier: BSD-2-Clause
#include "capture/control/control.h"
#include "bpf/ctl.h"
#include "bpf/events.h"
#include "capture/control/control_early.h"
#include "capture/control/control_socket.h"
#include "capture/arming/probeless.h"
#include "capture/arming/until_window.h"
#include "capture/device/device_library.h"
#include "capture/session.h"
#include "capture/timed.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERBS_A_TURN 8 /* most requests in a turn, so that clients never hold up the session */

/* Why the session has no socket. */
static const char *no_door(int err, pid_t holder, char *buf, size_t size)
{
	if (holder)
		snprintf(buf, size, "another session, proftrace with process id %d, has it",
			 holder);
	else
		snprintf(buf, size, "%s",
			 err == -EPERM ? "another user can change the directory of its socket"
				       : strerror(-err));
	return buf;
}

int control__open(struct session *s)
{
	const pid_t pid = s->opts->pid;
	char why[96];
	int err;

	err = control_socket__listen(&s->control, pid);
	s->start.hold = s->opts->paused ? PT_HOLD_CLOSED : PT_HOLD_NONE;
	if (!err)
		return 0;
	no_door(err, s->control.holder, why, sizeof(why));
	if (s->opts->paused)
		return err__set(err, MESSAGE_PAUSED_NOT_REACHABLE, pid, why);
	log__warn(MESSAGE_CONTROL_NOT_REACHABLE, pid, why);
	return 0;
}

void control__loaded(struct session *s)
{
	s->probes.ctl->hold = s->start.hold;
}

void control__close(struct session *s)
{
	control_socket__close(&s->control);
}

/* ---- status ---- */

/* Is a window open? The window without a file, in which proftrace looks for steps, does not
 * count. */
static bool is_open(const struct session *s)
{
	return s->probes.ctl->window_open && !s->records.log.pid;
}

static bool is_learning(const struct session *s)
{
	return !s->windows.timed && !s->probes.ctl->counting && !is_open(s);
}

static void say_state(const struct session *s, char *out, size_t size)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	if (control_early__is(s))
		control_early__state(s, out, size);
	else if (is_learning(s))
		snprintf(out, size, "attached, finding out what a step is");
	else if (is_open(s) && s->rule.boundary && !s->windows.timed)
		snprintf(out, size, "recording step %llu, since step %llu",
			 (unsigned long long)ctl->step, (unsigned long long)s->window.first_step);
	else if (is_open(s))
		snprintf(out, size, "recording, for %.1f s",
			 (double)(clock__monotonic_ns() - ctl->window_open_ns) / 1e9);
	else if (s->windows.timed)
		snprintf(out, size, "%s",
			 ctl->hold == PT_HOLD_CLOSED ? "paused" : "the next window opens");
	else
		snprintf(out, size, "%s, at step %llu",
			 ctl->hold == PT_HOLD_CLOSED ? "paused" : "waiting for the window",
			 (unsigned long long)probeless__step(ctl));
}

/* The path is absolute, since the client may be in another directory. */
static const char *window_path(const struct session *s, char *absolute)
{
	if (!s->window.writer)
		return "-";
	if (s->opts->in_memory)
		return "in memory";
	if (!realpath(s->window.path, absolute))
		snprintf(absolute, PATH_MAX, "%s", s->window.path);
	/* A newline in the path would look like a line of the answer. */
	for (char *c = absolute; (c = strchr(c, '\n'));)
		*c = '?';
	return absolute;
}

static void say_status(const struct session *s, char *out, size_t size)
{
	const struct losses lost = s->attaching.is_done ? session__losses(s) : (struct losses){0};
	uint64_t lost_cnt =
		lost.ring + lost.depth + lost.storage + lost.decode + lost.ends + lost.sched;
	char state[128], device[192], path[PATH_MAX];

	say_state(s, state, sizeof(state));
	device_library__say(s, device, sizeof(device));
	snprintf(out, size,
		 "process: %d%s%s%s%s\nstate: %s\nrecordings written: %llu\ncurrent recording: "
		 "%.500s\nevents lost: %llu\nlead: %llu ms\ndevice times: %.160s",
		 s->opts->pid, s->match.framework ? ", " : "",
		 s->match.framework ? s->match.framework->title : "", *s->match.version ? " " : "",
		 s->match.version, state, (unsigned long long)s->windows.written,
		 window_path(s, path), (unsigned long long)lost_cnt,
		 (unsigned long long)(arm__lead_ns(s) / 1000000), device);
}

/* ---- verbs ---- */

static bool start(struct session *s, uint64_t at_ns, char *out, size_t size)
{
	struct pt_ctl *ctl = s->probes.ctl;

	if (is_open(s) && !ctl->gap && ctl->hold != PT_HOLD_CLOSED) {
		if (s->windows.timed)
			snprintf(out, size, "it is recording already");
		else
			snprintf(out, size, "it is recording already, since step %llu",
				 (unsigned long long)s->window.first_step);
		return false;
	}
	ctl->open_from_ns = at_ns;
	ctl->hold = PT_HOLD_RECORD;
	snprintf(out, size,
		 is_learning(s) ? "recording begins when it is known what a step is"
		 : s->windows.timed
			 ? "recording begins when the probes are attached"
			 : "recording begins with the next step that finds the probes attached");
	return true;
}

static bool pause_windows(struct session *s, char *out, size_t size)
{
	struct pt_ctl *ctl = s->probes.ctl;
	char path[PATH_MAX];

	if (ctl->hold == PT_HOLD_CLOSED) {
		snprintf(out, size, "it is paused already");
		return false;
	}
	ctl->hold = PT_HOLD_CLOSED;
	if (is_open(s) && s->windows.timed) {
		snprintf(out, size, "the window ended: %.900s", window_path(s, path));
		timed__close(s);
	} else if (is_open(s) && s->window.writer)
		snprintf(out, size, "the window ends with step %llu: %.900s",
			 (unsigned long long)ctl->step, window_path(s, path));
	else
		snprintf(out, size, "no window opens before `start`");
	return true;
}

static void say_no_window(const struct session *s, char *out, size_t size)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	char state[128] = "paused";

	if (ctl->hold != PT_HOLD_CLOSED && is_open(s)) {
		snprintf(out, size,
			 "no window is open: the last one is being completed, and the "
			 "next opens by itself; ask again then");
		return;
	}
	if (ctl->hold != PT_HOLD_CLOSED)
		say_state(s, state, sizeof(state));
	snprintf(out, size, "no window is open: %s; `proftrace ctl %d start` opens one", state,
		 s->opts->pid);
}

/* The current step is the window's last one, and the next step is in no window. Without steps the
 * window ends at once. The next window then opens when the file is complete. */
static bool end_window(struct session *s, bool keep, char *out, size_t size)
{
	struct pt_ctl *ctl = s->probes.ctl;
	char path[PATH_MAX];

	if (!is_open(s) || ctl->gap || ctl->hold == PT_HOLD_CLOSED) {
		say_no_window(s, out, size);
		return false;
	}
	s->windows.discard = !keep;
	if (s->windows.timed) {
		snprintf(out, size, keep ? "written: %.900s" : "forgotten: %.900s",
			 window_path(s, path));
		timed__close(s);
		return true;
	}
	ctl->gap = 1;
	snprintf(out, size,
		 keep ? "written up to step %llu: %.900s" : "forgotten up to step %llu: %.900s",
		 (unsigned long long)ctl->step, window_path(s, path));
	return true;
}

static bool obey(struct session *s, enum control_verb verb, uint64_t at_ns, char *out, size_t size)
{
	if (verb == CONTROL_STATUS) {
		say_status(s, out, size);
		return true;
	}
	if (verb == CONTROL_STOP) {
		if (!s->opts->stop->asked)
			s->opts->stop->asked = 1;
		snprintf(out, size, "stopping");
		return true;
	}
	if (control_early__is(s))
		return control_early__obey(s, verb, out, size);
	if (s->probes.ctl->state == PT_STATE_DONE) {
		snprintf(out, size, "the session is ending already");
		return false;
	}
	switch (verb) {
	case CONTROL_START:
	case CONTROL_RESUME:
		return start(s, at_ns, out, size);
	case CONTROL_PAUSE:
		return pause_windows(s, out, size);
	default:
		return end_window(s, verb == CONTROL_DUMP, out, size);
	}
}

static void dump_if_due(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	char said[CONTROL_MAX];

	if (!control_early__is(s) && s->opts->dump_every_ns &&
	    (s->rule.boundary || s->windows.timed) && is_open(s) &&
	    clock__monotonic_ns() - ctl->window_open_ns >= s->opts->dump_every_ns)
		end_window(s, true, said, sizeof(said));
}

void control__pump(struct session *s)
{
	char said[CONTROL_MAX];
	enum control_verb verb;
	uint64_t at_ns;
	int client;

	for (int i = 0; i < VERBS_A_TURN && s->control.fd > 0 &&
			control_socket__next(&s->control, &verb, &at_ns, &client);
	     i++) {
		bool obeyed = obey(s, verb, at_ns, said, sizeof(said));

		control_socket__answer(client, obeyed, said);
		if (obeyed && verb != CONTROL_STATUS)
			log__info(MESSAGE_CONTROL_OBEYED, control_verbs[verb], said);
	}
	dump_if_due(s);
}

static int poll_requests(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	control__pump(s);
	return 0;
}

static size_t wakes(const struct session *s, struct pollfd *fds, size_t most)
{
	size_t cnt = 0;

	if (s->control.fd <= 0 || !most)
		return 0;
	fds[cnt++] = (struct pollfd){.fd = s->control.fd, .events = POLLIN};
	for (size_t i = 0; i < CONTROL_CLIENTS && cnt < most; i++)
		if (s->control.clients[i].fd > 0)
			fds[cnt++] =
				(struct pollfd){.fd = s->control.clients[i].fd, .events = POLLIN};
	return cnt;
}

/* Clients get an answer in the session's last turn, too. */
const struct component component_control = {
	.name = "proftrace ctl",
	.poll = poll_requests,
	.after_errors = true,
	.early = true,
	.at_end = true,
	.wakes = wakes,
};
