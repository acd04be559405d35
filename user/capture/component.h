/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of a session, by what the loop calls of it. components.c has them all, in the order in which they are
 * called. A component keeps its state to itself; nothing but component.c calls these, and apart from `prepare` none of
 * them waits or calls the loop.
 */
#ifndef PROFTRACE_COMPONENT_H
#define PROFTRACE_COMPONENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/wait.h"

struct pollfd;
struct session;

/* NULL: nothing to do then. What returns an int: 0 or a negative errno with err__set; the first error ends the
 * session. */
struct component {
	const char *name;
	/* Once, when it is known what a step is, and before steps count. May wait. */
	int (*prepare)(struct session *s);
	/* In each turn, when the records that came were read, but not more often than every so many ms. next_ns: the
	 * loop sleeps until then, or is woken. It is set to an earlier time (turn_by()) by who needs a turn by then. */
	int (*poll)(struct session *s, uint64_t *next_ns);
	unsigned int every_ms;
	bool after_errors; /* also in the turn that ends the session by one */
	bool early;	   /* also before the programs are loaded */
	bool at_end;	   /* also behind the last window, where components do nothing else any more */
	/* What wakes the loop: into fds, up to `most`; returns how many. */
	size_t (*wakes)(const struct session *s, struct pollfd *fds, size_t most);
	/* As poll, while windows are awaited or open, and not before. */
	int (*poll_windows)(struct session *s, uint64_t *next_ns);
	/* The window's file is there, and none of its records has come. */
	void (*window_open)(struct session *s);
	/* The window is over, its latest records are on their way. */
	void (*window_close)(struct session *s);
	/* They have come: writes what is kept until then to the file and its summary. Not called after an error. */
	int (*window_finish)(struct session *s, json_t *summary);
	/* Adds to the summary what is known of the window; called after an error, too. */
	void (*describe)(struct session *s, json_t *summary);
};

#define COMPONENTS_MAX 32
#define READ_NS	       10000000ull /* how often records are read that come in numbers: they wake nobody */
#define QUIET_LEAST_NS 50000000ull /* the time between turns while few come */

static inline void turn_by(uint64_t *next_ns, uint64_t by_ns)
{
	if (by_ns < *next_ns)
		*next_ns = by_ns;
}

/* Of every session, NULL behind the last. */
extern const struct component *const session_components[];

/* All of one kind, in order, up to the first error. */
int components__prepare(struct session *s);
/* err: of the turn until now. Returns it, or the first one. */
int components__poll(struct session *s, enum wait_stage stage, int err, uint64_t *next_ns);
size_t components__wakes(const struct session *s, struct pollfd *fds, size_t most);
int components__poll_windows(struct session *s, uint64_t *next_ns);
void components__window_open(struct session *s);
void components__window_close(struct session *s);
int components__window_finish(struct session *s, json_t *summary);
void components__describe(struct session *s, json_t *summary);

#endif
