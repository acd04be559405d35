/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages between the monitor and a process that pushes, over SEQPACKET sockets. */
#ifndef PROFTRACE_PUSH_MESSAGE_H
#define PROFTRACE_PUSH_MESSAGE_H

#include <stdint.h>

#define PUSH_BYTES_MAX (8 << 20) /* largest body */
#define PUSH_QUEUE     8	 /* waiting requests; one more drops the oldest */

/* Message to the process. The body comes along as a file. */
struct push_item {
	char type[64];	 /* Content-Type */
	char query[768]; /* query string "?a=b" after the URL, or "" */
};

enum push_to { PUSH_OTLP, PUSH_PPROF, PUSH_TO_CNT };
extern const char *const push_to_names[PUSH_TO_CNT]; /* the names of the options */

enum push_result {
	PUSH_OK,
	PUSH_PARTIAL, /* the receiver took it, except some values */
	PUSH_REFUSED, /* the receiver refuses it: no retry */
	PUSH_DROPPED, /* too many waited, or it was too large */
	PUSH_LOST,    /* the process that had it ended */
	PUSH_RETRIED, /* it will be tried again */
	PUSH_RESULT_CNT,
};
extern const char *const push_result_names[PUSH_RESULT_CNT];

struct push_answer {
	enum push_result result;
	char why[96]; /* reason of PUSH_REFUSED and PUSH_RETRIED */
};

#endif
