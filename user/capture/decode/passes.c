// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/passes.h"
#include <string.h>

#define AT_ONCE 16 /* most passes at one time, nested or on several threads */

/* Index of the first pass that ends after ts_ns. */
static size_t first_after(const struct passes *p, uint64_t ts_ns)
{
	size_t low = 0, high = p->cnt;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (p->ended[middle].end_ns > ts_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void forget_oldest(struct passes *p)
{
	p->cnt = PASSES_MAX / 2;
	memmove(p->ended, p->ended + PASSES_MAX - p->cnt, p->cnt * sizeof(*p->ended));
}

void passes__note(struct passes *p, uint64_t begin_ns, uint64_t end_ns, uint32_t tid)
{
	size_t i;

	if (p->cnt == PASSES_MAX)
		forget_oldest(p);
	i = first_after(p, end_ns);
	for (size_t k = i; k > 0 && p->ended[k - 1].end_ns == end_ns; k--)
		if (p->ended[k - 1].begin_ns == begin_ns)
			return;
	memmove(p->ended + i + 1, p->ended + i, (p->cnt - i) * sizeof(*p->ended));
	p->ended[i] = (struct pass){begin_ns, end_ns, tid};
	p->cnt++;
}

void passes__look(struct passes *p, const struct pt_passes *latest)
{
	const uint32_t cnt = __atomic_load_n(&latest->cnt, __ATOMIC_ACQUIRE);

	if (cnt - p->looked_cnt > PT_PASSES)
		p->looked_cnt = cnt - PT_PASSES;
	for (; p->looked_cnt != cnt; p->looked_cnt++) {
		const uint32_t i = p->looked_cnt % PT_PASSES;
		/* the programs write end_ns after the other members */
		const uint64_t end_ns =
			__atomic_load_n(&latest->passes[i].end_ns, __ATOMIC_ACQUIRE);
		const uint64_t begin_ns =
			__atomic_load_n(&latest->passes[i].begin_ns, __ATOMIC_RELAXED);

		if (end_ns == p->looked_ns[i] || begin_ns >= end_ns)
			return; /* the program is still writing it */
		p->looked_ns[i] = end_ns;
		passes__note(p, begin_ns, end_ns, latest->passes[i].tid);
	}
}

uint64_t passes__end(const struct passes *p, uint64_t ts_ns, uint32_t tid)
{
	const size_t first = first_after(p, ts_ns);
	uint64_t end_ns = 0;

	for (size_t i = first; i < p->cnt && i < first + AT_ONCE; i++) {
		const struct pass *pass = &p->ended[i];

		if (pass->begin_ns > ts_ns)
			continue;
		if (pass->tid == tid)
			return pass->end_ns;
		if (!end_ns)
			end_ns = pass->end_ns;
	}
	return end_ns;
}
