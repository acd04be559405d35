// SPDX-License-Identifier: BSD-2-Clause
/* Device and pinned memory: host memory, and a sorted table of which address is what. */
#include "engine.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sim_range *ranges;
static size_t range_cnt, range_cap;
static int64_t used[SIM_MAX_DEVICES];

/* Index after the last range that starts at or before p. */
static size_t after(uintptr_t p)
{
	size_t low = 0, high = range_cnt;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ranges[middle].start <= p)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct sim_range range)
{
	size_t at;

	if (range_cnt == range_cap) {
		size_t cap = range_cap ? range_cap * 2 : 256;
		struct sim_range *more = realloc(ranges, cap * sizeof(*more));

		if (!more)
			return SIM_OUT_OF_MEMORY;
		ranges = more;
		range_cap = cap;
	}
	at = after(range.start);
	memmove(ranges + at + 1, ranges + at, (range_cnt - at) * sizeof(*ranges));
	ranges[at] = range;
	range_cnt++;
	return SIM_OK;
}

static bool take(uintptr_t start, struct sim_range *out)
{
	size_t at = after(start);

	if (!at || ranges[at - 1].start != start)
		return false;
	*out = ranges[at - 1];
	memmove(ranges + at - 1, ranges + at, (range_cnt - at) * sizeof(*ranges));
	range_cnt--;
	return true;
}

static void tell(bool release, const struct sim_range *range)
{
	const struct sim_tool *tool = sim_tool();

	if (tool && tool->memory)
		tool->memory(&(struct sim_memory_event){.release = release,
							.address = (const void *)range->start,
							.bytes = range->bytes,
							.type = range->type,
							.dev = range->dev,
							.correlation = sim_thread()->correlation,
							.async = sim_thread()->async_memory});
}

static int reserve_locked(int dev, int64_t bytes)
{
	if (bytes > 0 && used[dev] + bytes > (int64_t)sim_config.memory_bytes)
		return SIM_OUT_OF_MEMORY;
	used[dev] += bytes;
	return SIM_OK;
}

int sim_memory_reserve(int dev, int64_t bytes)
{
	int result;

	pthread_mutex_lock(&mutex);
	result = reserve_locked(dev, bytes);
	pthread_mutex_unlock(&mutex);
	return result;
}

int sim_memory_alloc(void **out, size_t bytes, enum sim_memory_type type, uint32_t flags)
{
	size_t rounded = (bytes + PAGE - 1) / PAGE * PAGE;
	int dev = sim_thread()->dev, result = SIM_OK;
	struct sim_range range = {.bytes = bytes, .type = type, .dev = dev, .flags = flags};
	void *p;

	sim_context_touch();
	*out = NULL;
	if (!bytes)
		return SIM_OK;
	if (rounded < bytes)
		return SIM_OUT_OF_MEMORY;
	if (type == SIM_DEVICE && sim_memory_reserve(dev, (int64_t)rounded))
		return SIM_OUT_OF_MEMORY;
	p = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return SIM_OUT_OF_MEMORY;
	range.start = (uintptr_t)p;
	pthread_mutex_lock(&mutex);
	result = insert(range);
	pthread_mutex_unlock(&mutex);
	*out = p;
	tell(false, &range);
	return result;
}

int sim_memory_free(void *p)
{
	struct sim_range range;
	size_t rounded;
	bool found;

	if (!p)
		return SIM_OK;
	pthread_mutex_lock(&mutex);
	found = take((uintptr_t)p, &range);
	pthread_mutex_unlock(&mutex);
	if (!found)
		return SIM_INVALID_VALUE;
	rounded = (range.bytes + PAGE - 1) / PAGE * PAGE;
	if (range.type == SIM_DEVICE)
		sim_memory_reserve(range.dev, -(int64_t)rounded);
	tell(true, &range);
	munmap(p, rounded);
	return SIM_OK;
}

int sim_memory_add(void *p, size_t bytes, enum sim_memory_type type, int dev, bool mapped)
{
	int result;

	pthread_mutex_lock(&mutex);
	result = insert((struct sim_range){
		.start = (uintptr_t)p, .bytes = bytes, .type = type, .dev = dev, .mapped = mapped});
	pthread_mutex_unlock(&mutex);
	return result;
}

int sim_memory_remove(void *p)
{
	struct sim_range range;
	bool found;

	pthread_mutex_lock(&mutex);
	found = take((uintptr_t)p, &range);
	pthread_mutex_unlock(&mutex);
	if (found && range.mapped)
		madvise(p, range.bytes, MADV_DONTNEED);
	return found ? SIM_OK : SIM_INVALID_VALUE;
}

bool sim_memory_find(const void *p, struct sim_range *out)
{
	bool found;
	size_t at;

	pthread_mutex_lock(&mutex);
	at = after((uintptr_t)p);
	found = at && (uintptr_t)p - ranges[at - 1].start < ranges[at - 1].bytes;
	if (found && out)
		*out = ranges[at - 1];
	pthread_mutex_unlock(&mutex);
	return found;
}

void sim_memory_info(int dev, size_t *free_bytes, size_t *total_bytes)
{
	pthread_mutex_lock(&mutex);
	*total_bytes = sim_config.memory_bytes;
	*free_bytes = sim_config.memory_bytes - (size_t)used[dev];
	pthread_mutex_unlock(&mutex);
}
