/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps an exporter running: replaces it if it ends, is stopped or does not keep up. */
#ifndef PROFTRACE_MONITOR_EXPORTER_WATCH_H
#define PROFTRACE_MONITOR_EXPORTER_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "monitor/event_loop.h"
#include "monitor/exporter.h"

struct exporter_watch_opts {
	struct event_loop *loop;
	struct exporter_opts exporter;
	/* An answer about a rank, or a request. fd: a file that came along, closed afterwards; -1:
	 * none. */
	void (*answered)(void *ctx, const struct window_answer *answer, int fd);
	void (*renewed)(void *ctx); /* a new exporter began; it knows nothing yet */
	void (*ask)(void *ctx); /* asks the owner to send the counts, which the exporter must
				   answer */
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
	bool has_spoken; /* some exporter has answered once */
	uint64_t due_ns; /* when the next exporter begins, or an answer is overdue */
	uint64_t begin_ns, wait_ns; /* wait_ns: time before the next one begins */
	unsigned int unanswered;
};

/* Starts the first exporter. 0 or a negative errno with err__set. */
int exporter_watch__start(struct exporter_watch *e, const struct exporter_watch_opts *opts);
/* fd: sent along; -1: none. Messages without an exporter are lost: see `renewed`. */
void exporter_watch__send(struct exporter_watch *e, const struct message *message, int fd);
/* The counts were sent, so an answer is expected. */
void exporter_watch__expect(struct exporter_watch *e);
uint64_t exporter_watch__due(const struct exporter_watch *e);
/* A negative errno with err__set if no exporter ever answered: another would not, either. */
int exporter_watch__tick(struct exporter_watch *e, uint64_t now_ns);
void exporter_watch__stop(struct exporter_watch *e);

#endif
