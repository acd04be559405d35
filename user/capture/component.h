/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of a session, as the loop calls it. components.c lists all components in the order of the calls. A component
 * keeps its state to itself. Only component.c calls these functions. Except `prepare`, none of them waits or calls the
 * loop.
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

/* A pointer may be NULL. Functions that return an int return 0 or a negative errno with err__set. The first error ends
 * the session. */
struct component {
	const char *name;
	/* Called once, after the step rule is known and before steps count. May wait. */
	int (*prepare)(struct session *s);
	/* Called in each turn after the new records were read, but at most once in every_ms. The loop sleeps until
	 * next_ns or until something wakes it. A component that needs an earlier turn sets next_ns to an earlier time
	 * (turn_by()). */
	int (*poll)(struct session *s, uint64_t *next_ns);
	unsigned int every_ms;
	bool after_errors; /* also called in the turn that ends the session by an error */
	bool early;	   /* also called before the programs are loaded */
	bool at_end;	   /* also called after the last window */
	/* Adds the descriptors that wake the loop to fds, at most `most`. Returns how many. */
	size_t (*wakes)(const struct session *s, struct pollfd *fds, size_t most);
	/* As poll, but only while windows are awaited or open. */
	int (*poll_windows)(struct session *s, uint64_t *next_ns);
	/* The window's file is open and has no records yet. */
	void (*window_open)(struct session *s);
	/* The window is over. Its latest records are still on their way. */
	void (*window_close)(struct session *s);
	/* The latest records have come: write what was kept until now to the file and its summary. Not called after an
	 * error. */
	int (*window_finish)(struct session *s, json_t *summary);
	/* Add to the summary what is known about the window. Also called after an error. */
	void (*describe)(struct session *s, json_t *summary);
};

#define COMPONENTS_MAX 32
#define READ_NS	       10000000ull /* interval of reading records that wake nobody */
#define QUIET_LEAST_NS 50000000ull /* time between turns while few records come */

static inline void turn_by(uint64_t *next_ns, uint64_t by_ns)
{
	if (by_ns < *next_ns)
		*next_ns = by_ns;
}

/* The components of every session; NULL ends the list. */
extern const struct component *const session_components[];

/* Each calls one function of all components, in order, until the first error. */
int components__prepare(struct session *s);
/* err: the turn's first error so far. Returns the first error. */
int components__poll(struct session *s, enum wait_stage stage, int err, uint64_t *next_ns);
size_t components__wakes(const struct session *s, struct pollfd *fds, size_t most);
int components__poll_windows(struct session *s, uint64_t *next_ns);
void components__window_open(struct session *s);
void components__window_close(struct session *s);
int components__window_finish(struct session *s, json_t *summary);
void components__describe(struct session *s, json_t *summary);

#endif
