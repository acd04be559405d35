/* SPDX-License-Identifier: BSD-2-Clause */
/* What the monitor and a process that pushes tell each other, over SEQPACKET sockets. */
#ifndef PROFTRACE_PUSH_MESSAGE_H
#define PROFTRACE_PUSH_MESSAGE_H

#include <stdint.h>

#define PUSH_BYTES_MAX (8 << 20) /* of one body */
#define PUSH_QUEUE     8	 /* requests that wait: the oldest goes if another one comes */

/* To the process; the body is a file that comes with it. */
struct push_item {
	char type[64];	 /* Content-Type */
	char query[768]; /* "?a=b" behind the URL, or "" */
};

enum push_to { PUSH_OTLP, PUSH_PPROF, PUSH_TO_CNT };
extern const char *const push_to_names[PUSH_TO_CNT]; /* as their options */

enum push_result {
	PUSH_OK,
	PUSH_PARTIAL, /* the receiver took it, but for some of its values */
	PUSH_REFUSED, /* the receiver does not want it: no retry */
	PUSH_DROPPED, /* as too many wait, or it is too large */
	PUSH_LOST,    /* with the process that had it */
	PUSH_RETRIED, /* not yet: it is tried again */
	PUSH_RESULT_CNT,
};
extern const char *const push_result_names[PUSH_RESULT_CNT];

struct push_answer {
	enum push_result result;
	char why[96]; /* of PUSH_REFUSED and PUSH_RETRIED */
};

#endif
