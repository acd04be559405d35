// SPDX-License-Identifier: BSD-2-Clause
/* How long operations take: a model, and rules that override it by name, device and time. */
#include "engine.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SM_CNT		132
#define SM_THREADS	2048
#define SM_SHARED_BYTES 233472
#define SM_REGISTERS	65536
#define SM_BLOCKS	32

struct rule {
	char glob[256];
	int dev; /* -1: any */
	double ns, scale;
	uint64_t after_ns, until_ns; /* since the simulation's start */
	uint64_t skip, times;	     /* which of the matching operations */
	uint64_t seen;
	bool hang;
};
static struct rule rules[64];
static int rule_cnt;
static uint64_t began_ns;

static void parse_setting(struct rule *r, const char *word, int line)
{
	double v;

	if (!strcmp(word, "hang"))
		r->hang = true;
	else if (sscanf(word, "ns=%lf", &v) == 1)
		r->ns = v;
	else if (sscanf(word, "scale=%lf", &v) == 1)
		r->scale = v;
	else if (sscanf(word, "dev=%lf", &v) == 1)
		r->dev = (int)v;
	else if (sscanf(word, "after_ms=%lf", &v) == 1)
		r->after_ns = (uint64_t)(v * 1e6);
	else if (sscanf(word, "until_ms=%lf", &v) == 1)
		r->until_ns = (uint64_t)(v * 1e6);
	else if (sscanf(word, "skip=%lf", &v) == 1)
		r->skip = (uint64_t)v;
	else if (sscanf(word, "times=%lf", &v) == 1)
		r->times = (uint64_t)v;
	else
		fprintf(stderr, "simgpu: rule %d: what is '%s'?\n", line, word);
}

static void parse_rule(char *text, int line)
{
	struct rule *r = &rules[rule_cnt];
	char *rest = NULL, *word = strtok_r(text, " \t\n", &rest);

	if (!word || *word == '#')
		return;
	*r = (struct rule){
		.dev = -1, .ns = -1, .scale = 1, .until_ns = UINT64_MAX, .times = UINT64_MAX};
	snprintf(r->glob, sizeof(r->glob), "%s", word);
	while ((word = strtok_r(NULL, " \t\n", &rest)))
		parse_setting(r, word, line);
	rule_cnt++;
}

void sim_duration_read_rules(void)
{
	const char *path = getenv("SIMGPU_RULES");
	char text[512];
	FILE *f;

	began_ns = sim_now();
	if (!path || !*path)
		return;
	f = fopen(path, "r");
	if (!f) {
		fprintf(stderr, "simgpu: cannot open SIMGPU_RULES %s: %m\n", path);
		return;
	}
	for (int line = 1; rule_cnt < 64 && fgets(text, sizeof(text), f); line++)
		parse_rule(text, line);
	fclose(f);
}

static bool applies(struct rule *r, const struct sim_op *op)
{
	uint64_t since = op->start_ns - began_ns;

	if (r->dev >= 0 && r->dev != op->dev)
		return false;
	if (since < r->after_ns || since >= r->until_ns || fnmatch(r->glob, op->name, 0))
		return false;
	r->seen++;
	return r->seen > r->skip && r->seen - r->skip <= r->times;
}

/* xorshift64*, so that a seed gives the same durations everywhere. */
static double uniform(void)
{
	static uint64_t state;

	if (!state)
		state = sim_config.seed * 0x9e3779b97f4a7c15u + 1;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)((state * 0x2545f4914f6cdd1du) >> 11) / 9007199254740992.0;
}

uint64_t sim_duration(struct sim_op *op)
{
	double ns = (double)op->duration_ns;

	if (op->kind == SIM_MARK || op->kind == SIM_HOST)
		return op->duration_ns;
	for (int i = 0; i < rule_cnt; i++) {
		if (!applies(&rules[i], op))
			continue;
		if (rules[i].hang) {
			op->hangs = true;
			return SIM_OPEN;
		}
		if (op->duration_ns != SIM_OPEN)
			ns = (rules[i].ns >= 0 ? rules[i].ns : ns) * rules[i].scale;
	}
	if (op->duration_ns == SIM_OPEN)
		return SIM_OPEN;
	if (sim_config.jitter > 0)
		ns *= 1 + sim_config.jitter * (2 * uniform() - 1);
	return ns < 1 ? 1 : (uint64_t)ns;
}

/* Blocks of a kernel that a multiprocessor can hold at once. */
uint32_t sim_occupancy(uint32_t threads, uint32_t shared_bytes, uint32_t registers)
{
	uint32_t rounded = (threads + 31) / 32 * 32, blocks = SM_BLOCKS;

	if (!rounded)
		return 0;
	if (SM_THREADS / rounded < blocks)
		blocks = SM_THREADS / rounded;
	if (registers && SM_REGISTERS / (registers * rounded) < blocks)
		blocks = SM_REGISTERS / (registers * rounded);
	if (SM_SHARED_BYTES / (shared_bytes + 1024) < blocks)
		blocks = SM_SHARED_BYTES / (shared_bytes + 1024);
	return blocks;
}

uint64_t sim_kernel_ns(const struct sim_op *op)
{
	uint64_t blocks = (uint64_t)op->grid[0] * op->grid[1] * op->grid[2];
	uint32_t per_sm = sim_occupancy(op->block[0] * op->block[1] * op->block[2],
					op->static_shared + op->dynamic_shared, op->registers);
	uint64_t per_wave = (uint64_t)(per_sm ? per_sm : 1) * SM_CNT;

	return sim_config.kernel_ns + (blocks + per_wave - 1) / per_wave * sim_config.wave_ns;
}
