// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/governor.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "common/util.h"

/* attaching takes half a second of CPU time at once, and then next to nothing */
#define GOVERNOR_NS 600000000000ull
#define APART_NS    9000000000ull

static const struct governor_sample *back(const struct governor *g, size_t i)
{
	return &g->samples[(g->next + GOVERNOR_SAMPLES - 1 - i) % GOVERNOR_SAMPLES];
}

void governor__add(struct governor *g, const struct governor_sample *sample)
{
	/* Replaces the last sample until it is far enough from the one before. */
	if (g->cnt > 1 && sample->at_ns - back(g, 1)->at_ns < APART_NS)
		g->next = (g->next + GOVERNOR_SAMPLES - 1) % GOVERNOR_SAMPLES;
	else if (g->cnt < GOVERNOR_SAMPLES)
		g->cnt++;
	g->samples[g->next] = *sample;
	g->next = (g->next + 1) % GOVERNOR_SAMPLES;
}

/* Processors used over GOVERNOR_NS, or since a younger monitor began. */
static double cpu_used(const struct governor *g)
{
	const struct governor_sample *now = back(g, 0), *then = now;

	for (size_t i = 1; i < g->cnt && now->at_ns - back(g, i)->at_ns <= GOVERNOR_NS; i++)
		then = back(g, i);
	return now->cpu_s - then->cpu_s;
}

enum hold governor__hold(const struct governor *g)
{
	const struct governor_sample *now = back(g, 0);

	if (!g->cnt)
		return HOLD_NONE;
	if (cpu_used(g) > g->limits.cpu * (double)GOVERNOR_NS / 1e9)
		return HOLD_CPU;
	if (now->memory_bytes > g->limits.memory_bytes)
		return HOLD_MEMORY;
	if (now->pressure > g->limits.pressure) /* false for NAN */
		return HOLD_PRESSURE;
	return HOLD_NONE;
}

double pressure__parse(const char *text)
{
	double percent;

	return sscanf(text, "some avg10=%*f avg60=%lf", &percent) == 1 ? percent / 100 : NAN;
}

double pressure__read(void)
{
	bool cut;
	auto_free char *text = file__read_up_to("/proc/pressure/cpu", 4096, NULL, &cut);

	return text ? pressure__parse(text) : NAN;
}
