/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One watched rank. Its session is a paused `proftrace record -p PID`, whose windows are opened and
 * closed through its control socket. Sends one request at a time and never waits for an answer.
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

/* A window of all ranks of its job that it takes part in. */
struct joint_window {
	uint32_t id; /* 0: none */
	/* When sessions are asked for it, so that each has its probes attached when it opens at at_ns. */
	uint64_t ask_ns, at_ns, length_ns;
	bool is_open; /* the session was told, or the window is read */
};

struct watch_opts {
	const char *store; /* directory of recordings */
	double budget, max_duty;
	uint64_t window_steps;
	size_t file_bytes; /* a session ends if its recording grows larger */
	struct event_loop *loop;
	/* A window's file is complete, or the window failed. */
	void (*window)(void *ctx, struct watch *w, enum window_result result,
		       const struct window_ready *ready);
	/* False: no window may open now. It is called again when the next one is due. */
	bool (*may_open)(void *ctx);
	void (*changed)(void *ctx, const struct watch *w); /* the state, or the step count */
	void *ctx;
};

struct watch {
	const struct watch_opts *opts;
	struct found_rank rank;
	uint32_t id;
	enum watch_state state;
	struct child session;
	struct event_source session_end, answer;
	struct control_session link; /* open while an answer is awaited */
	enum control_verb asked;
	uint64_t asked_ns;
	struct schedule schedule;
	uint64_t lead_ns; /* in which its session attaches the probes of a window */
	struct joint_window joint;
	uint64_t alone_cnt; /* windows since the latest one of all ranks of its job */
	uint64_t held_until_ns; /* events were lost */
	uint64_t ready_ns; /* 0: not yet */
	struct step_time step_time;
	struct cpu_use cpu_use;
	uint64_t ask_due_ns, window_due_ns, deadline_ns;
	uint64_t begin_ns, open_ns;
	uint64_t heard_ns; /* when the session answered last */
	struct loss_hold hold;
	uint64_t asked_steps; /* steps of the next or open window; 0: the usual number */
	struct window_ready read; /* the window that is being read */
	double open_s;	 /* how long it was open */
	double unread_s; /* of windows without figures */
	bool was_open; /* a window was open when it was asked to end */
	bool ended;	/* the session has ended and was waited for */
	int exit_status; /* of waitpid(2) */
	char prefix[128]; /* begin of its recordings' names */
};

/* NULL with err__set if no session could be started. */
struct watch *watch__new(const struct watch_opts *opts, const struct found_rank *rank, uint32_t id);
/* When tick() is due. */
uint64_t watch__due(const struct watch *w);
void watch__tick(struct watch *w, uint64_t now_ns);
/* A file in the store was closed after writing. */
void watch__file_closed(struct watch *w, const char *name, uint64_t now_ns);
/* What was found in a window. */
void watch__measured(struct watch *w, const struct window_answer *answer, uint64_t now_ns);
/* Opens a window of so many steps (0: the usual number) now. False: impossible, because one is open
 * or being read, or the session is not ready. */
bool watch__record(struct watch *w, uint64_t steps, uint64_t now_ns);
/* May it take part in a window of all ranks of its job? */
bool watch__may_join(const struct watch *w, uint64_t now_ns);
/* How long a window of it is open. */
uint64_t watch__joint_ns(const struct watch *w);
/* Its next window is that one, in place of its own. */
void watch__join(struct watch *w, const struct joint_window *joint, uint64_t now_ns);
/* Ends the session: SIGTERM, later SIGKILL. It has ended when `ended` is set. */
void watch__stop(struct watch *w, uint64_t now_ns);
/* Kills a session that has not ended. */
void watch__free(struct watch *w);

#endif
