/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows of all ranks of a job on this host at the same moment. Keeps those that were planned until each rank's
 * recording is there, or is known to be missing. Then `proftrace report` reads the recordings together: it says for
 * which rank the others wait.
 */
#ifndef PROFTRACE_JOB_WINDOWS_H
#define PROFTRACE_JOB_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "monitor/messages.h"
#include "monitor/output_child.h"

struct job_member {
	uint32_t watch; /* its id */
	bool is_decided;
	char file[RECORDING_NAME]; /* "": none */
};

struct job_window {
	uint32_t id;
	struct rank_info job; /* of one of its ranks */
	uint64_t at_ns;	      /* it opens */
	struct job_member *members;
	size_t cnt, cap, missing;
	bool is_checked;  /* after it opened: who takes no part is missing */
	bool is_complete; /* each rank is decided: it is read, or waits for that */
};

struct job_windows {
	/* json: a descriptor that is closed afterwards. */
	void (*done)(void *ctx, uint32_t id, int json);
	/* Has the rank's session been told to open it? */
	bool (*takes_part)(void *ctx, uint32_t watch, uint32_t id);
	void *ctx;
	const char *directory;
	uint64_t *results; /* JOB_WINDOW_RESULT_CNT of them, */
	uint64_t *missing; /* and JOB_MISSING_CNT */
	struct job_window *items;
	size_t cnt, cap;
	uint32_t next_id;
	uint32_t reading; /* the id, 0: none */
	struct output_child report;
};

void job_windows__init(struct job_windows *j, struct event_loop *loop);
/* Is one of that job planned, or not read yet? */
bool job_windows__has(const struct job_windows *j, const struct rank_info *rank);
/* Its id; 0: no memory. */
uint32_t job_windows__plan(struct job_windows *j, const struct rank_info *rank, uint64_t at_ns);
/* A rank that takes part. False: no memory, and it does not. */
bool job_windows__add(struct job_windows *j, uint32_t id, uint32_t watch);
/* A rank that does not. */
void job_windows__miss(struct job_windows *j, uint32_t id, enum job_missing why);
/* A rank's window was read; file NULL: it gave no figures, for that reason. Ids that are none (any more) are nothing. */
void job_windows__decide(struct job_windows *j, uint32_t id, uint32_t watch, const char *file,
			 enum job_missing why);
/* When tick() is due; UINT64_MAX: never. */
uint64_t job_windows__due(const struct job_windows *j);
void job_windows__tick(struct job_windows *j, uint64_t now_ns);
void job_windows__stop(struct job_windows *j);

#endif
