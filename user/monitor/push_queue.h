/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies that wait to be pushed, and when the first one is tried. Does no input or output. */
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
	bool is_sending; /* the first body is being sent */
	unsigned int tries;
	uint64_t due_ns; /* time for the first body, unless it is being sent */
};

/* Takes over the body's data. True: the queue was full, so the oldest waiting entry was removed. */
bool push_queue__add(struct push_queue *q, const struct push_body *body);
bool push_queue__is_due(const struct push_queue *q, uint64_t now_ns);
/* Removes the first body: it was delivered or refused. */
void push_queue__finish(struct push_queue *q);
/* The first body failed and is tried again. Delays grow to a minute. The receiver may ask for more
 * (0: it does not), at most five minutes. random: any number. */
void push_queue__retry(struct push_queue *q, uint64_t now_ns, uint64_t retry_after_s, uint64_t random);
void push_queue__free(struct push_queue *q);

/* The result for an HTTP status. PUSH_RETRIED: try again. */
enum push_result push_queue__result_of(long status);
/* Does the body of an OTLP answer say that values were refused (partial_success)? */
bool push_queue__is_partial(const unsigned char *answer, size_t len);

#endif
