/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs one of our own commands, with its output in a memory file, and limits of size, time and
 * memory. */
#ifndef PROFTRACE_OUTPUT_CHILD_H
#define PROFTRACE_OUTPUT_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include "monitor/child.h"
#include "monitor/event_loop.h"

struct output_child {
	struct event_loop *loop;
	/* fd: the output, closed afterwards; -1: it failed. The callback may start another one. */
	void (*done)(void *ctx, int fd);
	void *ctx;
	struct child child;
	struct event_source ended;
	int out;
	uint64_t deadline_ns;
};

/* argv[0] is "proftrace". 0, or a negative errno with err__set (then `done` is not called). */
int output_child__start(struct output_child *o, char *const argv[], size_t bytes_max);
/* When tick() is due; UINT64_MAX: never. */
uint64_t output_child__due(const struct output_child *o);
void output_child__tick(struct output_child *o, uint64_t now_ns);
/* Ends it without calling `done`. */
void output_child__stop(struct output_child *o);

#endif
