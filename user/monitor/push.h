/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps a process running that pushes data (pusher.h): replaces it if it ends. Never waits: data
 * that the process does not take is counted. */
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
	unsigned int waiting; /* number of bodies that the process has */
	uint64_t due_ns, begin_ns, wait_ns; /* due_ns: start of the next process; UINT64_MAX: it
					       runs */
	bool is_failing; /* the receiver fails, and that was logged */
};

/* Starts the first process. Does nothing if url is NULL. 0 or a negative errno with err__set. */
int push__start(struct push *p, struct event_loop *loop, enum push_to to, const char *url, uint64_t *counts);
/* fd: the body, borrowed. */
void push__send(struct push *p, const struct push_item *item, int fd);
uint64_t push__due(const struct push *p);
void push__tick(struct push *p, uint64_t now_ns);
void push__stop(struct push *p);

#endif
