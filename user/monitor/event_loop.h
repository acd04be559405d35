/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors, and what is done when one is readable. One event at a time: what an owner frees is
 * never called again. */
#ifndef PROFTRACE_EVENT_LOOP_H
#define PROFTRACE_EVENT_LOOP_H

#include <stdint.h>

/* Of two times at which something is due. */
static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
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
/* Takes fd over; s must stay where it is until it is removed. 0, or a negative errno: fd is closed. */
int event_loop__add(struct event_loop *l, struct event_source *s, int fd, void (*ready)(void *ctx),
		    void *ctx);
/* Closes its descriptor, if it has one. */
void event_loop__remove(struct event_loop *l, struct event_source *s);
/* Waits for one event, or until a time of CLOCK_MONOTONIC, UINT64_MAX: none. 0 or a negative errno. */
int event_loop__wait(struct event_loop *l, uint64_t until_ns);
void event_loop__close(struct event_loop *l);

#endif
