/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads windows with `proftrace report` in its own sandbox, one after the other. */
#ifndef PROFTRACE_WINDOW_READER_H
#define PROFTRACE_WINDOW_READER_H

#include <stdbool.h>
#include <stdint.h>
#include "monitor/messages.h"
#include "monitor/output_child.h"

#define WINDOW_JSON_MAX (4 << 20) /* longest report that is read, in bytes */
#define READER_QUEUE	64

struct window_reader {
	/* json: a descriptor, closed afterwards; -1: the window could not be read. */
	void (*done)(void *ctx, const struct window_ready *window, int json);
	void *ctx;
	const char *directory;
	struct window_ready queue[READER_QUEUE]; /* the first one is being read */
	size_t cnt;
	struct output_child report;
};

void window_reader__init(struct window_reader *r, struct event_loop *loop);
/* False: too many wait already. */
bool window_reader__add(struct window_reader *r, const struct window_ready *window);
/* Does a window of that session wait, or is one being read? */
bool window_reader__has(const struct window_reader *r, uint32_t id);
/* When tick() is due; UINT64_MAX: never. */
uint64_t window_reader__due(const struct window_reader *r);
void window_reader__tick(struct window_reader *r, uint64_t now_ns);
void window_reader__stop(struct window_reader *r);

#endif
