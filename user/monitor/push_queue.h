/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies that wait to be pushed, and when the first one is tried. No input or output. */
#ifndef PROFTRACE_PUSH_QUEUE_H
#define PROFTRACE_PUSH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "monitor/push_message.h"

struct push_body {
	struct push_item item;
	char *data;
	size_t len;
};

struct push_queue {
	struct push_body items[PUSH_QUEUE];
	size_t cnt;
	bool is_sending; /* the first */
	unsigned int tries;
	uint64_t due_ns; /* of the first, unless it is being sent */
};

/* Takes over the body's data. True: the queue was full, and the oldest waiting entry was removed. */
bool push_queue__add(struct push_queue *q, const struct push_body *body);
bool push_queue__is_due(const struct push_queue *q, uint64_t now_ns);
/* The first is there, or is not wanted. */
void push_queue__finish(struct push_queue *q);
/* The first failed: once more, later each time, up to a minute, and not before the receiver wants it (0: it says
 * nothing; five minutes at most). random: any number. */
void push_queue__retry(struct push_queue *q, uint64_t now_ns, uint64_t retry_after_s, uint64_t random);
void push_queue__free(struct push_queue *q);

/* What becomes of it by the status of HTTP; PUSH_RETRIED: another try. */
enum push_result push_queue__result_of(long status);
/* Of the body of an answer of OTLP: were values refused (partial_success)? */
bool push_queue__is_partial(const unsigned char *answer, size_t len);

#endif
