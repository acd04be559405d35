/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that pushes (pusher.h), and another one in its place where it ends. Nothing is waited for: what it does
 * not take is counted. */
#ifndef PROFTRACE_PUSH_H
#define PROFTRACE_PUSH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "monitor/event_loop.h"
#include "monitor/push_message.h"

struct push {
	struct event_loop *loop;
	const char *option, *url; /* NULL: nothing is pushed */
	pid_t pid;		  /* 0: none */
	struct event_source answers;
	uint64_t *counts; /* by push_result */
	unsigned int waiting; /* bodies that it has */
	uint64_t due_ns, begin_ns, wait_ns; /* another one begins; UINT64_MAX: one is there */
	bool is_failing; /* the receiver; that was logged */
};

/* The first one; nothing with url NULL. 0 or a negative errno with err__set. */
int push__start(struct push *p, struct event_loop *loop, enum push_to to, const char *url, uint64_t *counts);
/* fd: the body, which stays the caller's. */
void push__send(struct push *p, const struct push_item *item, int fd);
uint64_t push__due(const struct push *p);
void push__tick(struct push *p, uint64_t now_ns);
void push__stop(struct push *p);

#endif
