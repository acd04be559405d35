/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_TOP_MESSAGE_TABLE_H
#define PROFTRACE_TOP_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- The monitor ---- */

#define MESSAGE_MONITOR_NOT_READY \
	MESSAGE("top.monitor-not-ready", \
		"the monitor at %s looks at this host for the first time; wait some seconds")
#define MESSAGE_MONITOR_STATUS_UNEXPECTED \
	MESSAGE("top.monitor-status-unexpected", \
		"%s answers with HTTP status %d: is it proftrace monitor?")
#define MESSAGE_MONITOR_ANSWER_INVALID MESSAGE("top.monitor-answer-invalid", "%s: %s")
#define MESSAGE_MONITOR_PLACE_INVALID \
	MESSAGE("top.monitor-place-invalid", \
		"%s: give 127.0.0.1:PORT or [::1]:PORT, or the path of a unix socket, as the " \
		"monitor's --listen has it")
#define MESSAGE_MONITOR_SILENT \
	MESSAGE("top.monitor-silent", "the monitor at %s did not answer within %g s")
#define MESSAGE_MONITOR_ANSWER_LARGE \
	MESSAGE("top.monitor-answer-large", \
		"%s answers with more than %u MB: is it proftrace monitor?")
#define MESSAGE_MONITOR_SOCKET_NOT_PERMITTED \
	MESSAGE("top.monitor-socket-not-permitted", \
		"%s: %s; its socket is for the monitor's user: use sudo")
#define MESSAGE_MONITOR_MISSING MESSAGE("top.monitor-missing", "no monitor answers at %s: %s")
#define MESSAGE_MONITOR_TO_BE_STARTED \
	MESSAGE("top.monitor-to-be-started", "%s; start one: sudo proftrace monitor")
#define MESSAGE_MONITOR_NO_HTTP \
	MESSAGE("top.monitor-no-http", "%s does not answer as a monitor does: no HTTP")
#define MESSAGE_MONITOR_ENDED MESSAGE("top.monitor-ended", "the monitor ended: %s")

/* ---- The terminal ---- */

#define MESSAGE_TERMINAL_UNKNOWN \
	MESSAGE("top.terminal-unknown", \
		"the terminal's type '%s' is not known here, or cannot place its cursor; set TERM, " \
		"as to vt100, or use proftrace top --once")
#define MESSAGE_TERMINAL_UNUSABLE \
	MESSAGE("top.terminal-unusable", "ncurses cannot use this terminal")

#endif
