/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_MONITOR_MESSAGE_TABLE_H
#define PROFTRACE_MONITOR_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Jobs ---- */

#define MESSAGE_PROCESS_WATCHED MESSAGE("monitor.process-watched", "job %s: watches process %d")
#define MESSAGE_PROCESS_WATCHED_NO_LONGER \
	MESSAGE("monitor.process-watched-no-longer", "job %s: process %d is watched no longer")
#define MESSAGE_PROCESS_NOT_WATCHED \
	MESSAGE("monitor.process-not-watched", "process %d is not watched: %s")
#define MESSAGE_PROCESS_END_NOT_WATCHED \
	MESSAGE("monitor.process-end-not-watched", \
		"cannot watch process %d: %s (pidfd_open needs Linux 5.3)")
#define MESSAGE_PROC_UNREADABLE MESSAGE("monitor.proc-unreadable", "cannot look through /proc: %s")
#define MESSAGE_SESSION_ENDED \
	MESSAGE("monitor.session-ended", \
		"job %s, process %d: its session ended; next try at the next scan")
#define MESSAGE_SESSION_ENDED_AGAIN \
	MESSAGE("monitor.session-ended-again", \
		"job %s, process %d: its session ended; next try after some time (backoff)")
#define MESSAGE_SESSION_UNREADY \
	MESSAGE("monitor.session-unready", \
		"job %s, process %d: its session did not become ready, or did not answer; next " \
		"try at the next scan")
#define MESSAGE_SESSION_UNREADY_AGAIN \
	MESSAGE("monitor.session-unready-again", \
		"job %s, process %d: its session did not become ready, or did not answer; next " \
		"try after some time (backoff)")
#define MESSAGE_SESSION_NOT_WATCHED \
	MESSAGE("monitor.session-not-watched", "cannot watch a session: %s")
#define MESSAGE_SESSION_DISOBEYS \
	MESSAGE("monitor.session-disobeys", \
		"job %s, process %d: the session does not obey `%s`: %s")
#define MESSAGE_STEP_SLOWER \
	MESSAGE("monitor.step-slower", \
		"job %s, rank %s: the step takes %.1f %% longer than in its first %d windows: %.3f " \
		"ms; latest recording: %s")
#define MESSAGE_STEP_SLOWER_CAUSE \
	MESSAGE("monitor.step-slower-cause", \
		"job %s, rank %s: the step takes longer since about %s: %s; proftrace diff %s %s")
#define MESSAGE_ALARM_NOT_COMPARED \
	MESSAGE("monitor.alarm-not-compared", \
		"recording %s was not compared with the job's baseline: %s")
#define MESSAGE_RECORDING_NOT_KEPT \
	MESSAGE("monitor.recording-not-kept", \
		"recording %s has no second name that keeps it: %s")
#define MESSAGE_STEP_AS_BEFORE \
	MESSAGE("monitor.step-as-before", \
		"job %s, rank %s: the step takes as long again as in its first windows")

#define MESSAGE_STRAGGLER_FOUND \
	MESSAGE("monitor.straggler-found", \
		"job %s: the other ranks wait %.0f %% of a step for rank %s (%s); its recording: " \
		"%s, see `proftrace report` of it and of those of the other ranks")
#define MESSAGE_STRAGGLER_GONE \
	MESSAGE("monitor.straggler-gone", "job %s: the other ranks wait for rank %s no longer")

/* ---- Windows ---- */

#define MESSAGE_WINDOWS_HELD MESSAGE("monitor.windows-held", "no window opens: %s")
#define MESSAGE_WINDOWS_OPEN_AGAIN MESSAGE("monitor.windows-open-again", "windows open again")
#define MESSAGE_WINDOW_ASKED_FOR \
	MESSAGE("monitor.window-asked-for", "job %s, process %d: a window is asked for")
#define MESSAGE_WINDOW_ASKED_FOR_LATER \
	MESSAGE("monitor.window-asked-for-later", \
		"job %s, process %d: a window is asked for, which opens in %s")
#define MESSAGE_WINDOW_TIME_MISSED \
	MESSAGE("monitor.window-time-missed", \
		"job %s, process %d: the window that was asked for did not open: at its time %s")
#define MESSAGE_WINDOW_LOST_EVENTS \
	MESSAGE("monitor.window-lost-events", \
		"job %s, process %d: a window lost events; none is opened for %llu minutes")
#define MESSAGE_WINDOW_NOT_READ MESSAGE("monitor.window-not-read", "the window %s is not read: %s")
#define MESSAGE_JOB_WINDOW_NOT_READ \
	MESSAGE("monitor.job-window-not-read", \
		"job %s: the recordings of all ranks are not read together: %s")
#define MESSAGE_JOB_WINDOW_WITHOUT_MEMORY \
	MESSAGE("monitor.job-window-without-memory", "not enough memory for their paths")
#define MESSAGE_STORE_NOT_PRUNED \
	MESSAGE("monitor.store-not-pruned", "--keep: cannot look through %s")
#define MESSAGE_STORE_NOT_MADE \
	MESSAGE("monitor.store-not-made", "--store %s: cannot make the directory: %s")
#define MESSAGE_STORE_UNREADABLE MESSAGE("monitor.store-unreadable", "--store %s: %s")
#define MESSAGE_STORE_WRITABLE_BY_OTHERS \
	MESSAGE("monitor.store-writable-by-others", \
		"--store %s: another user owns it or can write to it; give a directory of your own")

/* ---- The monitor itself ---- */

#define MESSAGE_MONITOR_STARTED \
	MESSAGE("monitor.started", \
		"monitor: http://%s/metrics, recordings in %s, at most %.2f %% of a job's time")
#define MESSAGE_CONFIG_NOT_CHANGED \
	MESSAGE("monitor.config-not-changed", "SIGHUP: the configuration stays as it was: %s")
#define MESSAGE_CONFIG_CHANGED \
	MESSAGE("monitor.config-changed", \
		"SIGHUP: the configuration was read again, at most %.2f %% of a job's time")
#define MESSAGE_EVENTS_NOT_AWAITED \
	MESSAGE("monitor.events-not-awaited", "cannot wait for events: %s")
#define MESSAGE_EXPORTER_RESTARTED \
	MESSAGE("monitor.exporter-restarted", \
		"%s; another one begins, with figures at 0")
#define MESSAGE_EXPORTER_ENDED \
	MESSAGE("monitor.exporter-ended", "the process that exports figures has ended")
#define MESSAGE_EXPORTER_SLOW \
	MESSAGE("monitor.exporter-slow", "the process that exports figures does not keep up")
#define MESSAGE_EXPORTER_SILENT \
	MESSAGE("monitor.exporter-silent", "the process that exports figures does not answer")
#define MESSAGE_EXPORTER_NOT_BEGUN \
	MESSAGE("monitor.exporter-not-begun", "the process that exports figures did not begin")
#define MESSAGE_HTTP_NOT_SERVED \
	MESSAGE("monitor.http-not-served", "libmicrohttpd cannot answer HTTP")
#define MESSAGE_LISTEN_INVALID \
	MESSAGE("monitor.listen-invalid", \
		"--listen %s: give 127.0.0.1:PORT, [::1]:PORT or the path of a unix socket; other " \
		"hosts are answered by a proxy of yours")
#define MESSAGE_LISTEN_FAILED MESSAGE("monitor.listen-failed", "cannot listen at %s: %s")
#define MESSAGE_LISTEN_PLACE_TAKEN \
	MESSAGE("monitor.listen-place-taken", \
		"cannot listen at %s: %s; is another monitor running? --listen takes another " \
		"place")
#define MESSAGE_RULE_USER_UNKNOWN \
	MESSAGE("monitor.rule-user-unknown", "--%s user:%s: no such user on this host")
#define MESSAGE_RULE_PID_INVALID \
	MESSAGE("monitor.rule-pid-invalid", "--%s %s%s: '%s' is no process number")
#define MESSAGE_RULE_JOB_MISSING \
	MESSAGE("monitor.rule-job-missing", \
		"--%s job:%d: there is no such process; it has exited or never was")
#define MESSAGE_RULE_JOBS_TOO_MANY \
	MESSAGE("monitor.rule-jobs-too-many", "--%s job:PID: at most %d of these rules")
#define MESSAGE_RULE_INVALID \
	MESSAGE("monitor.rule-invalid", \
		"--%s %s: give command:GLOB, program:GLOB, user:NAME, cgroup:GLOB, pid:NUMBER or " \
		"job:NUMBER, as in --%s 'command:python*'")
#define MESSAGE_RULE_COMMAND_LONG \
	MESSAGE("monitor.rule-command-long", \
		"--%s %s: the kernel keeps %d bytes of a process's name, so this matches none; a " \
		"script or module: program:%s")
#define MESSAGE_EXPORTER_NOT_STARTED \
	MESSAGE("monitor.exporter-not-started", \
		"the process that exports figures did not begin: %s")
#define MESSAGE_PAGE_NOT_MADE MESSAGE("monitor.page-not-made", "no page of %s is made: %s")
#define MESSAGE_PROCESS_NOT_AWAITED MESSAGE("monitor.process-not-awaited", "cannot wait for a process: %s")
#define MESSAGE_RECEIVER_URL_INVALID \
	MESSAGE("monitor.receiver-url-invalid", \
		"--%s: give a URL, as http://127.0.0.1:4318/v1/metrics")
#define MESSAGE_RECEIVER_URL_HAS_PASSWORD \
	MESSAGE("monitor.receiver-url-has-password", \
		"--%s: no user and no password may be in the URL")
#define MESSAGE_RECEIVER_URL_NOT_ASCII \
	MESSAGE("monitor.receiver-url-not-ascii", \
		"--%s: a URL has no spaces, no # and only ASCII")
#define MESSAGE_CURL_NOT_USABLE MESSAGE("monitor.curl-not-usable", "libcurl cannot be used")
#define MESSAGE_CURL_OUT_OF_MEMORY MESSAGE("monitor.curl-out-of-memory", "libcurl has no memory")
#define MESSAGE_PUSHER_ENDED \
	MESSAGE("monitor.pusher-ended", \
		"--%s: the process that sends to the receiver has ended; another one begins in %llu s")
#define MESSAGE_RECEIVER_TAKES_AGAIN \
	MESSAGE("monitor.receiver-takes-again", \
		"--%s: the receiver takes what it is sent again")
#define MESSAGE_RECEIVER_REFUSES \
	MESSAGE("monitor.receiver-refuses", \
		"--%s: the receiver refuses what it is sent: %s")
#define MESSAGE_RECEIVER_NOT_REACHED \
	MESSAGE("monitor.receiver-not-reached", \
		"--%s: nothing is sent (%s); up to %d requests wait, and the next try follows")
#define MESSAGE_PUSH_NOT_BEGUN MESSAGE("monitor.push-not-begun", "--%s: %s")
#define MESSAGE_CURL_NOT_LOADED \
	MESSAGE("monitor.curl-not-loaded", \
		"libcurl.so.4 cannot be loaded; install it (Debian: libcurl4)")
#define MESSAGE_CURL_TOO_OLD MESSAGE("monitor.curl-too-old", "libcurl has no %s: it is older than 7.66")
#define MESSAGE_PROFILE_NOT_MADE MESSAGE("monitor.profile-not-made", "--pprof: no profile of %s is made: %s")

#endif
