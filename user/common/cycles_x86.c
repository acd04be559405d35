// SPDX-License-Identifier: BSD-2-Clause
#include "common/cycles.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <stdbool.h>
#include <time.h>
#include <x86intrin.h>

#define MEASURE_NS 20000000
#define TRIES	   16 /* the try that was interrupted least counts */

struct reading {
	uint64_t cycles, ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct reading read_both(void)
{
	struct reading best = {};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc(), ns = now_ns(), width = __rdtsc() - before;

		if (width >= best_width)
			continue;
		best_width = width;
		best = (struct reading){before + width / 2, ns};
	}
	return best;
}

/* Intel SDM volume 3, "Invariant TSC": leaf 0x80000007, EDX bit 8. */
static bool is_constant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

uint32_t cycles__ns_shifted(unsigned int shift)
{
	static struct reading length; /* of the single measurement */
	struct timespec pause = {.tv_nsec = MEASURE_NS};
	struct reading first, last;

	if (!is_constant())
		return 0;
	if (!length.cycles) {
		first = read_both();
		nanosleep(&pause, NULL);
		last = read_both();
		length = (struct reading){last.cycles - first.cycles, last.ns - first.ns};
	}
	return (uint32_t)((double)length.ns * (double)(1ull << shift) / (double)length.cycles);
}
#else
uint32_t cycles__ns_shifted(unsigned int shift)
{
	(void)shift;
	return 0;
}
#endif
