/* SPDX-License-Identifier: BSD-2-Clause */
/* One injection from request to result, which the files of this directory share. */
#ifndef PROFTRACE_INJECT_SESSION_H
#define PROFTRACE_INJECT_SESSION_H

#include "inject/calls.h"
#include "inject/frames.h"
#include "inject/tracee.h"
#include "inject/inject.h"
#include "inject/maps.h"
#include "inject/safe_point.h"

/* Memory after the end of a file's code, up to the page's end: mapped, executable and unused. */
struct cave {
	uint64_t addr;
	size_t size;
};

struct session {
	const struct inject_request *request;
	struct inject_result *result;
	struct target *target;
	struct maps maps;
	struct libc_calls calls;
	struct frames *frames;
	struct safe_point safe;
	struct tracee tracee;
	struct cave cave;
	uint64_t function; /* address in an object that is there already; else 0 */
	uint64_t region;   /* of the new thread */
	uint64_t started_ns, deadline_ns;
	unsigned int stops_before; /* stops that were no look for a thread */
	int lock_fd; /* lock: one proftrace at a time */
};

int cave__find(struct session *s); /* 0 or -EOPNOTSUPP with err__set */

/* Did a killed proftrace leave its stub there? A thread may still be in it. */
bool cave__is_marked(const struct session *s);

/*
 * For a thread stopped at a safe point: maps the region, makes the new thread, and puts the stopped
 * one back. 0 and session->region; -EAGAIN: try another thread or place; another negative errno
 * with err__set.
 */
int injected_call__make_thread(struct session *s);

/* Drives the new thread, from `go` to its end. */
int injected_thread__run(struct session *s);

/* Writes to memory of the target that the target itself can write. 0 or a negative errno. */
int session__write(const struct session *s, uint64_t addr, const void *bytes, size_t len);

#endif
