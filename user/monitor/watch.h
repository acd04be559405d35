/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One watched rank. Its session is a paused `proftrace record -p PID`. Windows are opened and closed through the
 * session's control socket. A watch sends one request at a time and never waits for an answer.
 */
#ifndef PROFTRACE_WATCH_H
#define PROFTRACE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "capture/control/control_socket.h"
#include "monitor/backoff.h"
#include "monitor/child.h"
#include "monitor/cpu_use.h"
#include "monitor/discovery.h"
#include "monitor/event_loop.h"
#include "monitor/schedule.h"
#include "monitor/step_time.h"

struct watch;

/* A window of all ranks of the job, in which this rank takes part. */
struct joint_window {
	uint32_t id; /* 0: none */
	/* Sessions are asked at ask_ns, so that each has its probes attached when the window opens at at_ns. */
	uint64_t ask_ns, at_ns, length_ns;
	bool is_open; /* the session was asked, or the window is being read */
};

/* A window at a time that a user chose. */
struct timed_window {
	uint64_t at_ns; /* since 1970; 0: none */
	uint64_t steps; /* 0: the usual number */
	bool is_open;	/* the session was asked, or the window is being read */
};

/* A longer window, because steps take longer than in a baseline. */
struct alarm_window {
	char baseline[RECORDING_NAME]; /* ""; no such window is due */
	uint64_t due_ns;
	unsigned int tries; /* that failed */
	bool is_open;	    /* the session was asked, or the window is being read */
	bool has_figures;   /* it was read */
};

struct watch_opts {
	const char *store; /* directory of recordings */
	double budget, max_duty;
	uint64_t window_steps;
	bool device_times; /* sessions that begin load our library into a process that uses CUDA */
	size_t file_bytes; /* a session ends if its recording exceeds this size */
	struct event_loop *loop;
	/* Called when a window's file is complete, or when the window failed. */
	void (*window)(void *ctx, struct watch *w, enum window_result result,
		       const struct window_ready *ready);
	/* Returns false if no window may open now. Called again when the next window is due. */
	bool (*may_open)(void *ctx);
	void (*changed)(void *ctx, const struct watch *w); /* called after a change of the state or the step count */
	void *ctx;
};

struct watch {
	const struct watch_opts *opts;
	struct found_rank rank;
	uint32_t id;
	enum watch_state state;
	struct child session;
	struct event_source session_end, answer;
	struct control_session link; /* open while the watch waits for an answer */
	enum control_verb asked;
	uint64_t asked_ns;
	struct schedule schedule;
	enum device_times device_times;
	char device_why[DEVICE_WHY];
	uint64_t lead_ns; /* time that the session needs to attach the probes of a window */
	struct joint_window joint;
	struct timed_window timed;
	struct alarm_window alarm;
	uint64_t alone_cnt; /* windows since the latest window of all ranks */
	uint64_t held_until_ns; /* after lost events no window opens before this time */
	uint64_t ready_ns; /* 0: the session is not ready yet */
	struct step_time step_time;
	struct cpu_use cpu_use;
	uint64_t ask_due_ns, window_due_ns, deadline_ns;
	uint64_t begin_ns, open_ns;
	uint64_t heard_ns; /* time of the session's latest answer */
	struct loss_hold hold;
	uint64_t asked_steps; /* steps of the next or open window; 0: the usual number */
	struct window_ready read; /* the window that is being read */
	double open_s;	 /* how long that window was open */
	double unread_s; /* total time of windows without figures */
	bool is_open;  /* the session has said that the window is open */
	bool was_open; /* a window was open when the session was asked to end it */
	bool ended;	/* the session has ended, and we have waited for it */
	int exit_status; /* as of waitpid(2) */
	char prefix[128]; /* begin of the names of its recordings */
};

/* Returns NULL with err__set if the session could not be started. */
struct watch *watch__new(const struct watch_opts *opts, const struct found_rank *rank, uint32_t id);
/* Time of the next watch__tick(). */
uint64_t watch__due(const struct watch *w);
void watch__tick(struct watch *w, uint64_t now_ns);
/* Call when a file in the store was closed after writing. */
void watch__file_closed(struct watch *w, const char *name, uint64_t now_ns);
/* Call with the result of a window. */
void watch__measured(struct watch *w, const struct window_answer *answer, uint64_t now_ns);
/* Opens a window of `steps` steps (0: the usual number) now. Returns false if that is impossible: a window is open or
 * being read, or the session is not ready. */
bool watch__record(struct watch *w, uint64_t steps, uint64_t now_ns);
/* Opens a window at a time since 1970. No other window of the rank opens before it. Returns false if that is
 * impossible: such a window is planned already, or the session is not ready. */
bool watch__record_at(struct watch *w, uint64_t steps, uint64_t at_ns, uint64_t now_ns);
/* The session is asked so early that its probes are attached when a window opens at a given time. */
uint64_t watch__lead_ns(const struct watch *w);
/* Opens a longer window soon. It will be compared with this recording. */
void watch__record_alarm(struct watch *w, const char *baseline, uint64_t now_ns);
/* May the rank take part in a window of all ranks of its job? */
bool watch__may_join(const struct watch *w, uint64_t now_ns);
/* Length of a window of this rank. */
uint64_t watch__joint_ns(const struct watch *w);
/* Makes `joint` the rank's next window, instead of one of its own. */
void watch__join(struct watch *w, const struct joint_window *joint, uint64_t now_ns);
/* Ends the session by SIGTERM, later by SIGKILL. `ended` is set when the session has ended. */
void watch__stop(struct watch *w, uint64_t now_ns);
/* Kills a session that has not ended. */
void watch__free(struct watch *w);

#endif
