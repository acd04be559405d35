// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/backoff.h"
#include <stdlib.h>
#include "common/util.h"

static struct backoff *find(const struct backoffs *b, pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < b->cnt; i++)
		if (b->items[i].pid == pid && b->items[i].start_ticks == start_ticks)
			return &b->items[i];
	return NULL;
}

/* Each time after the first doubles it. */
static uint64_t wait_of(unsigned int times)
{
	uint64_t wait_ns = BACKOFF_FIRST_NS;

	for (unsigned int i = 1; i < times && wait_ns < BACKOFF_MAX_NS; i++)
		wait_ns *= 2;
	return wait_ns < BACKOFF_MAX_NS ? wait_ns : BACKOFF_MAX_NS;
}

static void forgive(struct backoff *of, uint64_t now_ns)
{
	const uint64_t times =
		now_ns > of->until_ns ? (now_ns - of->until_ns) / BACKOFF_FORGIVE_NS : 0;

	of->failures -= times < of->failures ? (unsigned int)times : of->failures;
}

#define RESTART_MIN_NS 1000000000ull
#define RESTART_MAX_NS 60000000000ull

uint64_t restart_wait__kept(uint64_t wait_ns, uint64_t lived_ns)
{
	return lived_ns > RESTART_STEADY_NS ? 0 : wait_ns;
}

uint64_t restart_wait__doubled(uint64_t wait_ns)
{
	const uint64_t twice_ns = 2 * wait_ns;

	return twice_ns < RESTART_MIN_NS   ? RESTART_MIN_NS
	       : twice_ns < RESTART_MAX_NS ? twice_ns
					   : RESTART_MAX_NS;
}

uint64_t loss_hold__after(struct loss_hold *h, enum window_result result)
{
	if (result == WINDOW_LOST) {
		h->good = 0;
		return wait_of(++h->losses);
	}
	if (result == WINDOW_OK && ++h->good % LOSS_HOLD_FORGIVE == 0 && h->losses)
		h->losses--;
	return 0;
}

uint64_t backoffs__add(struct backoffs *b, pid_t pid, uint64_t start_ticks, uint64_t now_ns)
{
	struct backoff *of = find(b, pid, start_ticks);
	struct backoff fresh = {pid, start_ticks, 0, 0};

	if (!of) {
		if (ARRAY_PUSH(b->items, b->cnt, b->cap, fresh))
			return 0;
		of = &b->items[b->cnt - 1];
	}
	forgive(of, now_ns);
	of->failures++;
	of->until_ns = now_ns + (of->failures > 1 ? wait_of(of->failures - 1) : 0);
	return of->until_ns - now_ns;
}

bool backoffs__has(const struct backoffs *b, pid_t pid, uint64_t start_ticks, uint64_t now_ns)
{
	const struct backoff *of = find(b, pid, start_ticks);

	return of && now_ns < of->until_ns;
}

void backoffs__keep(struct backoffs *b,
		    bool (*is_there)(const void *ctx, pid_t pid, uint64_t start_ticks),
		    const void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->cnt; i++)
		if (is_there(ctx, b->items[i].pid, b->items[i].start_ticks))
			b->items[kept++] = b->items[i];
	b->cnt = kept;
}

void backoffs__free(struct backoffs *b)
{
	free(b->items);
	*b = (struct backoffs){0};
}
