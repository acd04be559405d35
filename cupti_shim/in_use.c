// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether another tool has given CUPTI the functions for its buffers. One that records activities
 * needs no subscription (torch.profiler since PyTorch 2.15 has none), so ours is not refused, but
 * the other would lose its records. CUPTI does not tell: flushing succeeds before anybody has
 * registered (seen of 13.0), whatever its documentation says. But it keeps the two functions side
 * by side in its data. If two words there lead into a library that calls CUPTI, they are those.
 * Else they may be of a tool that asked the loader: two functions of ours show for a moment which
 * words CUPTI keeps them in, and what was there goes back.
 */
#include "cupti_shim/segments.h"
#include "cupti_shim/shim.h"
#include <stdlib.h>

#define RANGES	2048
#define BLOCKS	8
#define PAIRS	4096
#define BUFFERS 64

struct range {
	uintptr_t begin, end;
};

static struct {
	uintptr_t inside; /* of CUPTI */
	struct range code[RANGES];
	size_t code_cnt;
	struct range data[BLOCKS]; /* of CUPTI's */
	size_t data_cnt;
} map;

/* Where two words lead into code of others, and what they were. */
static struct pair {
	const uintptr_t *at;
	uintptr_t words[2];
} pairs[PAIRS];

/* ---- the process's libraries ---- */

static void add(struct range *ranges, size_t *cnt, size_t max, const struct dl_phdr_info *info,
		const ElfW(Phdr) * p)
{
	const uintptr_t begin = (uintptr_t)(info->dlpi_addr + p->p_vaddr);

	if (*cnt < max)
		ranges[(*cnt)++] = (struct range){begin, begin + p->p_memsz};
}

static int add_object(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	const bool is_cupti = segments__hold(info, PT_LOAD, map.inside, 1);

	(void)bytes, (void)ctx;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (is_cupti && p->p_flags & PF_W)
			add(map.data, &map.data_cnt, BLOCKS, info, p);
		if (!is_cupti && p->p_flags & PF_X)
			add(map.code, &map.code_cnt, RANGES, info, p);
	}
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_place(const void *key, const void *range)
{
	const uintptr_t address = *(const uintptr_t *)key;
	const struct range *r = range;

	return address < r->begin ? -1 : address >= r->end;
}

static bool is_code(uintptr_t word)
{
	return map.code_cnt && word >= map.code[0].begin &&
	       bsearch(&word, map.code, map.code_cnt, sizeof(*map.code), by_place);
}

/* ---- CUPTI's data ---- */

static size_t find_pairs(const struct cupti *cupti)
{
	size_t cnt = 0;

	map.inside = (uintptr_t)cupti->ActivityRegisterCallbacks;
	map.code_cnt = map.data_cnt = 0;
	dl_iterate_phdr(add_object, NULL);
	qsort(map.code, map.code_cnt, sizeof(*map.code), by_begin);
	for (size_t i = 0; i < map.data_cnt; i++) {
		const uintptr_t *at = (const uintptr_t *)((map.data[i].begin + 7) & ~7ul);

		for (; (uintptr_t)(at + 2) <= map.data[i].end && cnt < PAIRS; at++)
			if (is_code(at[0]) && is_code(at[1]))
				pairs[cnt++] = (struct pair){at, {at[0], at[1]}};
	}
	return cnt;
}

/* ---- the moment ---- */

/* Buffers of the other's that came back meanwhile. */
static struct {
	void *context;
	uint32_t stream;
	uint8_t *buffer;
	size_t bytes, valid;
} returned[BUFFERS];
static uint32_t returned_cnt;

static void no_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = NULL;
	*bytes = *max_records = 0;
}

static void keep(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	const uint32_t i = __atomic_fetch_add(&returned_cnt, 1, __ATOMIC_ACQ_REL);

	if (i >= BUFFERS)
		return;
	returned[i].context = context;
	returned[i].stream = stream;
	returned[i].bytes = bytes;
	returned[i].valid = valid;
	__atomic_store_n(&returned[i].buffer, buffer, __ATOMIC_RELEASE);
}

static void give_back(cupti_buffer_complete complete)
{
	for (uint32_t i = 0; i < returned_cnt && i < BUFFERS; i++)
		complete(returned[i].context, returned[i].stream, returned[i].buffer,
			 returned[i].bytes, returned[i].valid);
	returned_cnt = 0;
}

/* What was there before, the one for requests first; false: nothing that led into code. */
static bool find_registered(size_t cnt, uintptr_t was[2])
{
	const uintptr_t request = (uintptr_t)no_request, complete = (uintptr_t)keep;

	for (size_t i = 0; i < cnt; i++) {
		const struct pair *p = &pairs[i];
		const bool swapped = p->at[0] == complete;

		if (p->at[swapped] != request || p->at[!swapped] != complete)
			continue;
		was[0] = p->words[swapped];
		was[1] = p->words[!swapped];
		return true;
	}
	return false;
}

static bool is_tools(const struct pair *p)
{
	return others__is_tool(p->words[0]) && others__is_tool(p->words[1]);
}

bool in_use__by_other(const struct cupti *cupti)
{
	const size_t cnt = find_pairs(cupti);
	uintptr_t was[2];

	for (size_t i = 0; i < cnt; i++)
		if (is_tools(&pairs[i]))
			return true;
	if (!cnt || cupti->ActivityRegisterCallbacks(no_request, keep))
		return false;
	if (!find_registered(cnt, was) || was[0] == (uintptr_t)records__on_request)
		return false;
	cupti->ActivityRegisterCallbacks((cupti_buffer_request)was[0],
					 (cupti_buffer_complete)was[1]);
	give_back((cupti_buffer_complete)was[1]);
	return true;
}
