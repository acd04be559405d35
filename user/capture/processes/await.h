/* SPDX-License-Identifier: BSD-2-Clause */
/* From a process id to a process whose framework is loaded, at the time for it. */
#ifndef PROFTRACE_AWAIT_H
#define PROFTRACE_AWAIT_H

#include <stdbool.h>
#include <stdint.h>

struct freeze;
struct session;

/* How a session begins. */
struct start {
	uint32_t hold;	       /* enum pt_hold asked for before the programs are loaded */
	uint64_t at_ns;	       /* wall clock: it waits until then; 0: it does not wait */
	bool now;	       /* that was asked for */
	bool awaits_framework; /* it waits for one to be loaded */
	bool descendant_described; /* a descendant that has a framework was named */
	struct freeze *program;  /* frozen while its probes go in; NULL: it runs */
	uint64_t sliced_ns;    /* before its libraries were there, between slices in which it ran */
	uint64_t frozen_ns;      /* for how long it did in all, as this window opened */
};

/* Until the process may be looked at: --start-after, --start-at. -EINTR when asked to stop, -ESRCH when
 * the program ends. */
int session__await_start(struct session *s);
/* Once all is ready: until the time of --start-at. */
int session__await_time(struct session *s);

/*
 * Opens the target and recognises its framework. If steps are to be counted, a program that may
 * still be importing its framework has time until the step timeout. It may be if Python, or some of
 * the framework's libraries, are there. After that s->match.framework may be NULL. -EINTR when
 * asked to stop, -ESRCH when the program ends.
 */
int session__await_framework(struct session *s);

/* Can the process be recorded without a framework? Yes, if the user names its functions or marks, or if it
 * has marks of proftrace.h. */
bool session__is_asked_for(const struct session *s);

#endif
