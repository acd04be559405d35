// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/push_queue.h"
#include <stdlib.h>
#include <string.h>

#define SECOND_NS     1000000000ull
#define WAIT_MAX_S    60u
#define RETRY_AFTER_S 300u /* longest delay that a receiver can ask for */

static void remove_at(struct push_queue *q, size_t i)
{
	free(q->items[i].data);
	q->cnt--;
	memmove(q->items + i, q->items + i + 1, (q->cnt - i) * sizeof(*q->items));
}

static void begin_anew(struct push_queue *q)
{
	q->tries = 0;
	q->due_ns = 0;
}

bool push_queue__add(struct push_queue *q, const struct push_body *body)
{
	const bool is_full = q->cnt == PUSH_QUEUE;

	/* A new body does not help a receiver that is down, so the time of the next try stays. */
	if (is_full)
		remove_at(q, q->is_sending ? 1 : 0);
	q->items[q->cnt++] = *body;
	return is_full;
}

bool push_queue__is_due(const struct push_queue *q, uint64_t now_ns)
{
	return q->cnt && !q->is_sending && now_ns >= q->due_ns;
}

void push_queue__finish(struct push_queue *q)
{
	remove_at(q, 0);
	q->is_sending = false;
	begin_anew(q);
}

void push_queue__retry(struct push_queue *q, uint64_t now_ns, uint64_t retry_after_s,
		       uint64_t random)
{
	const uint64_t wait_s = q->tries < 6 ? 1u << q->tries : WAIT_MAX_S;
	/* Random, so that monitors of many hosts do not retry at the same moment. */
	uint64_t wait_ns = wait_s * SECOND_NS * 3 / 4 + random % (wait_s * SECOND_NS / 2);

	if (retry_after_s > RETRY_AFTER_S)
		retry_after_s = RETRY_AFTER_S;
	if (wait_ns < retry_after_s * SECOND_NS)
		wait_ns = retry_after_s * SECOND_NS;
	q->is_sending = false;
	q->tries++;
	q->due_ns = now_ns + wait_ns;
}

void push_queue__free(struct push_queue *q)
{
	while (q->cnt)
		remove_at(q, q->cnt - 1);
}

enum push_result push_queue__result_of(long status)
{
	if (status >= 200 && status < 300)
		return PUSH_OK;
	return status == 429 || status == 502 || status == 503 || status == 504 ? PUSH_RETRIED
										: PUSH_REFUSED;
}

/* ---- the answer: ExportMetricsServiceResponse ---- */

/* False: the data ends within the number. */
static bool take_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		const unsigned char byte = *(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Reads the next field. A number goes to *value, with *len 0. Else *len is the number of its bytes,
 * which *at points to. */
static bool take_field(const unsigned char **at, const unsigned char *end, uint64_t *field,
		       uint64_t *value, size_t *len)
{
	uint64_t tag;

	*len = 0;
	if (!take_varint(at, end, &tag))
		return false;
	*field = tag >> 3;
	switch (tag & 7) {
	case 0:
		return take_varint(at, end, value);
	case 2:
		if (!take_varint(at, end, value) || *value > (uint64_t)(end - *at))
			return false;
		*len = (size_t)*value;
		return true;
	default:
		return false;
	}
}

static bool rejects(const unsigned char *at, size_t len)
{
	const unsigned char *end = at + len;
	uint64_t field, value;
	size_t field_len;

	while (take_field(&at, end, &field, &value, &field_len)) {
		if (field == 1 && !field_len)
			return value;
		at += field_len;
	}
	return false;
}

bool push_queue__is_partial(const unsigned char *answer, size_t len)
{
	const unsigned char *at = answer, *end = answer + len;
	uint64_t field, value;
	size_t field_len;

	while (take_field(&at, end, &field, &value, &field_len)) {
		if (field == 1 && field_len)
			return rejects(at, field_len);
		at += field_len;
	}
	return false;
}
