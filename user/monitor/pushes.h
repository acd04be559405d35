/* SPDX-License-Identifier: BSD-2-Clause */
/* What the monitor pushes: metrics as OTLP at an interval, and each window as pprof. */
#ifndef PROFTRACE_PUSHES_H
#define PROFTRACE_PUSHES_H

#include <stdbool.h>
#include <stdint.h>
#include "monitor/messages.h"
#include "monitor/output_child.h"
#include "monitor/own_usage.h"
#include "monitor/push.h"

#define PPROF_QUEUE 8

struct pushes_opts {
	struct event_loop *loop;
	const char *urls[PUSH_TO_CNT]; /* NULL: not sent */
	uint64_t interval_ns;	       /* interval of the metrics */
	const char *directory;	       /* of recordings */
	void (*ask_metrics)(void *ctx); /* asks for metrics, which come through pushes__metrics() */
	void *ctx;
	uint64_t (*counts)[PUSH_RESULT_CNT];
};

struct pprof_wait {
	char file[RECORDING_NAME];
	struct push_item item;
};

struct pushes {
	struct pushes_opts opts;
	struct push to[PUSH_TO_CNT];
	uint64_t metrics_due_ns;
	bool is_asked; /* metrics were asked for and have not come */
	struct pprof_wait queue[PPROF_QUEUE]; /* the first is being made */
	size_t cnt;
	struct output_child export;
};

/* 0, or a negative errno with err__set. */
int pushes__start(struct pushes *p, const struct pushes_opts *opts);
/* Replaces the texts by equal ones in other memory, because SIGHUP frees the old ones. */
void pushes__set_texts(struct pushes *p, const char *const urls[PUSH_TO_CNT], const char *directory);
/* fd: the body, borrowed; -1: there is none. */
void pushes__metrics(struct pushes *p, int fd);
/* A window of that rank was read. until_s: its end, since 1970. */
void pushes__window(struct pushes *p, const struct rank_info *rank, const struct window_ready *window,
		    double until_s);
void pushes__add_usage(const struct pushes *p, struct own_usage *usage);
uint64_t pushes__due(const struct pushes *p);
void pushes__tick(struct pushes *p, uint64_t now_ns);
void pushes__stop(struct pushes *p);

/* The query "?name=..." for Pyroscope's /ingest. False: it is too long. */
bool pushes__query(const struct rank_info *rank, const char *host, double from_s, double until_s, char *out,
		   size_t size);

#endif
