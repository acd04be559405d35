/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of a session, by what the loop calls of it. components.c has them all, in the order in which they are
 * called. A component keeps its state to itself; nothing but components.c calls these.
 */
#ifndef PROFTRACE_COMPONENT_H
#define PROFTRACE_COMPONENT_H

#include <jansson.h>
#include <stdint.h>

struct session;

/* NULL: nothing to do then. What returns an int: 0 or a negative errno with err__set; the first error ends the
 * session. */
struct component {
	const char *name;
	/* Once, when it is known what a step is, and before steps count. May wait. */
	int (*prepare)(struct session *s);
	/* In each turn, when the records that came were read, but not more often than every so many ms. */
	int (*poll)(struct session *s);
	unsigned int every_ms;
	/* The same while windows are awaited or open, and not before. */
	int (*poll_windows)(struct session *s);
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

/* All of one kind, in order, up to the first error. */
int components__prepare(struct session *s);
int components__poll(struct session *s);
int components__poll_windows(struct session *s);
void components__window_open(struct session *s);
void components__window_close(struct session *s);
int components__window_finish(struct session *s, json_t *summary);
void components__describe(struct session *s, json_t *summary);

#endif
