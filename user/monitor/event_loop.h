/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors with callbacks for when they are readable. One event at a time, so a source that its
 * owner freed is never called again. */
#ifndef PROFTRACE_EVENT_LOOP_H
#define PROFTRACE_EVENT_LOOP_H

#include <stdint.h>

/* The earlier and the later of two times. */
static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct event_source {
	int fd; /* 0: none */
	void (*ready)(void *ctx);
	void *ctx;
};

struct event_loop {
	int epoll_fd;
	struct event_source timer;
};

/* 0 or a negative errno. */
int event_loop__open(struct event_loop *l);
/* Takes over fd. s must not move until it is removed. 0, or a negative errno (then fd is
 * closed). */
int event_loop__add(struct event_loop *l, struct event_source *s, int fd, void (*ready)(void *ctx),
		    void *ctx);
/* Removes a source and closes its descriptor, if it has one. */
void event_loop__remove(struct event_loop *l, struct event_source *s);
/* Waits for one event, or until a time of CLOCK_MONOTONIC (UINT64_MAX: no limit). 0 or a negative
 * errno. */
int event_loop__wait(struct event_loop *l, uint64_t until_ns);
void event_loop__close(struct event_loop *l);

#endif
