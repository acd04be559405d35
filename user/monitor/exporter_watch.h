/* SPDX-License-Identifier: BSD-2-Clause */
/* The exporter, and another one in its place where it ends, stands still or does not keep up. */
#ifndef PROFTRACE_MONITOR_EXPORTER_WATCH_H
#define PROFTRACE_MONITOR_EXPORTER_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "monitor/event_loop.h"
#include "monitor/exporter.h"

struct exporter_watch_opts {
	struct event_loop *loop;
	struct exporter_opts exporter;
	/* Of a rank, or what is asked for. fd: a file that came along, closed afterwards; -1: none. */
	void (*answered)(void *ctx, const struct window_answer *answer, int fd);
	void (*renewed)(void *ctx); /* another one began, which knows nothing yet */
	void (*ask)(void *ctx); /* for a sign of life: tell it the counts */
	void *ctx;
};

enum exporter_loss {
	EXPORTER_IS_THERE,
	EXPORTER_HAS_ENDED,
	EXPORTER_IS_SLOW,
	EXPORTER_IS_SILENT,
	EXPORTER_DID_NOT_BEGIN,
};

struct exporter_watch {
	struct exporter_watch_opts opts;
	struct exporter exporter;
	struct event_source answers;
	enum exporter_loss lost;
	bool has_spoken; /* one of them did, ever */
	uint64_t due_ns; /* another one begins, or an answer is missing */
	uint64_t begin_ns, wait_ns; /* wait: before the next begins */
	unsigned int unanswered;
};

/* The first one. 0 or a negative errno with err__set. */
int exporter_watch__start(struct exporter_watch *e, const struct exporter_watch_opts *opts);
/* fd goes along, -1: none. What is told while there is no exporter is lost: see `renewed`. */
void exporter_watch__send(struct exporter_watch *e, const struct message *message, int fd);
/* It was told the counts, and is to answer. */
void exporter_watch__expect(struct exporter_watch *e);
uint64_t exporter_watch__due(const struct exporter_watch *e);
/* A negative errno with err__set where the first one never said a word: the next one would not, either. */
int exporter_watch__tick(struct exporter_watch *e, uint64_t now_ns);
void exporter_watch__stop(struct exporter_watch *e);

#endif
