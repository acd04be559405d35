/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for the time to begin, and for the target's framework. */
#ifndef PROFTRACE_AWAIT_H
#define PROFTRACE_AWAIT_H

#include <stdbool.h>
#include <stdint.h>

struct freeze;
struct session;

/* How a session begins. */
struct start {
	uint32_t hold;	       /* enum pt_hold that was requested before the programs were loaded */
	uint64_t at_ns;	       /* wall-clock time that the session waits for; 0: it does not wait */
	bool now;	       /* a request has ended this wait */
	bool awaits_framework; /* the session waits for a framework to be loaded */
	bool descendant_described; /* a message has named a descendant process with a framework */
	struct freeze *program;  /* frozen while its probes are attached; NULL: it runs */
	uint64_t sliced_ns;    /* time frozen between slices, before its libraries were mapped */
	uint64_t frozen_ns;      /* total time frozen when this window opened */
};

/* Waits until the process may be looked at: --start-after, --start-at. Returns -EINTR when stopped, -ESRCH if the
 * program ends. */
int session__await_start(struct session *s);
/* When all is prepared, waits for the time of --start-at. */
int session__await_time(struct session *s);

/*
 * Opens the target and recognises its framework. A program may still be importing its framework: it has Python, or some
 * of the framework's libraries. If steps are to be counted, this waits for the import up to the step timeout.
 * s->match.framework may be NULL afterwards. Returns -EINTR when stopped, -ESRCH if the program ends.
 */
int session__await_framework(struct session *s);

/* Can the process be recorded without a framework? Yes, if the user names its functions or marks, or if it
 * has marks of proftrace.h. */
bool session__is_asked_for(const struct session *s);

#endif
