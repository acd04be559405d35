// SPDX-License-Identifier: BSD-2-Clause
#include "random_job.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include "common/util.h"

#define US	1000ull
#define STREAMS 4

struct random_job {
	struct synth s;
	uint64_t seed, id;
	uint32_t streams[STREAMS], worker;
	uint64_t free_ns[STREAMS]; /* when a stream has done all so far */
	uint64_t lag_ns;	   /* most that a kernel lasts */
	uint64_t at[2];		   /* of the main thread and of the other one */
};

static uint64_t draw(struct random_job *j, uint64_t below)
{
	j->seed = j->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (j->seed >> 33) % below;
}

static void work(struct random_job *j, uint64_t launched_ns)
{
	static const struct {
		enum span_category category;
		const char *name;
	} kinds[] = {
		{CAT_KERNEL, "gemm"},
		{CAT_KERNEL, "add"},
		{CAT_KERNEL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
		{CAT_MEMCPY, "Memcpy HtoD (Pageable -> Device)"},
		{CAT_MEMCPY, "Memcpy DtoH (Device -> Pinned)"},
		{CAT_MEMSET, "Memset (Device)"},
	};
	const uint64_t stream = draw(j, STREAMS), kind = draw(j, ARRAY_SIZE(kinds));
	uint64_t begin = launched_ns + draw(j, 20 * US), end;
	struct event e;

	if (begin < j->free_ns[stream])
		begin = j->free_ns[stream];
	end = begin + draw(j, j->lag_ns);
	j->free_ns[stream] = end;
	e = synth__event(&j->s, j->streams[stream], kinds[kind].category, kinds[kind].name, begin,
			 end);
	e.type = EVENT_DEVICE;
	e.id = j->id;
	e.value = (int64_t)draw(j, 1 << 24);
	synth__write(&j->s, &e);
}

static uint64_t call(struct random_job *j, uint32_t track, uint64_t at)
{
	static const char *const names[] = {
		"cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize",
		"cudaMemcpy",	    "cudaMalloc",      "cudaDeviceSynchronize"};
	const uint64_t end = at + draw(j, draw(j, 10) ? 10 * US : 800 * US);
	struct event e =
		synth__event(&j->s, track, CAT_RUNTIME, names[draw(j, ARRAY_SIZE(names))], at, end);

	e.id = ++j->id;
	e.flags = draw(j, 2) ? EVENT_UNPROBED : 0;
	synth__write(&j->s, &e);
	if (draw(j, 3))
		work(j, at);
	return end;
}

static uint64_t operators(struct random_job *j, uint32_t track, uint64_t at, int depth)
{
	static const char *const names[] = {"aten::mm", "aten::add", "c_allreduce_sum",
					    "aten::item", "aten::copy_"};
	const uint64_t begin = at, cnt = draw(j, 5);
	const enum span_category category = draw(j, 8) ? CAT_OPERATOR : CAT_COMMUNICATION;

	at += draw(j, 5 * US);
	for (uint64_t i = 0; i < cnt; i++) {
		at = depth && draw(j, 2) ? operators(j, track, at, depth - 1) : call(j, track, at);
		at += draw(j, 3 * US);
	}
	synth__span(&j->s, track, category, names[draw(j, ARRAY_SIZE(names))], begin, at);
	return at;
}

static uint64_t phases(struct random_job *j, uint64_t at)
{
	static const struct {
		enum span_category category;
		const char *name;
	} kinds[] = {{CAT_DATALOADER, "next"},		 {CAT_FORWARD, "forward"},
		     {CAT_BACKWARD, "backward"},	 {CAT_OPTIMIZER, "step"},
		     {CAT_ZERO_GRAD, "zero_grad"},	 {CAT_USER, "GpuMemcpyAsync"},
		     {CAT_PROFILER_STEP, "ProfilerStep"}};
	const uint64_t cnt = draw(j, 8);

	for (uint64_t i = 0; i < cnt; i++) {
		const uint64_t kind = draw(j, ARRAY_SIZE(kinds)), begin = at;

		for (uint64_t k = draw(j, 4); k > 0; k--)
			at = operators(j, j->s.main, at, 2) + draw(j, 20 * US);
		synth__span(&j->s, j->s.main, kinds[kind].category, kinds[kind].name, begin, at);
		at += draw(j, 50 * US);
	}
	return at;
}

/* A thread's time in a step, in three parts. */
static void sched(struct random_job *j, uint32_t track, uint64_t step, uint64_t ns)
{
	uint64_t left = ns;

	for (uint8_t state = SCHED_RUN; state <= SCHED_BLOCKED; state++) {
		const uint64_t part = state == SCHED_BLOCKED ? left : draw(j, left + 1);
		const struct sched_row row = {
			.track = track,
			.step = step,
			.state = state,
			.reason = state == SCHED_BLOCKED
					  ? recording_writer__name(j->s.w, CAT_NONE, "futex", NULL)
					  : 0,
			.ns = part,
			.cnt = 1};

		cr_assert_eq(recording_writer__sched(j->s.w, &row), 0);
		left -= part;
	}
}

static void others(struct random_job *j, uint64_t begin, uint64_t end)
{
	struct event e;

	while (j->at[1] < end)
		j->at[1] = operators(j, j->s.other, j->at[1] + draw(j, 100 * US), 2);
	if (draw(j, 2)) {
		e = synth__event(&j->s, j->s.main, CAT_COMMUNICATION, "gloo:all_reduce",
				 begin > 300 * US ? begin - draw(j, 300 * US) : begin,
				 end + draw(j, 300 * US));
		e.type = EVENT_ASYNC;
		synth__write(&j->s, &e);
	}
	synth__memory(&j->s, j->s.main, begin + 1, 4096 * (1 + draw(j, 9)),
		      (int64_t)draw(j, 1 << 20) + 1);
}

struct synth random_job(uint64_t seed)
{
	struct random_job j = {.seed = seed};
	const char *meta = draw(&j, 2) ? "{\"process\": {\"pid\": 100}}"
				       : "{\"process\": {\"pid\": 100}, \"probe_cost\": "
					 "{\"span_inside_ns\": 700, \"span_total_ns\": 2500}}";
	const bool has_steps = draw(&j, 6), gaps = !draw(&j, 3);
	char summary[160];

	j.s = synth__new(meta);
	for (size_t i = 0; i < STREAMS; i++)
		j.streams[i] = synth__stream(&j.s, (int)(i / 2), (int64_t)(7 + i % 2));
	j.worker = synth__thread(&j.s, 200, 200, "worker");
	j.lag_ns = 1 + draw(&j, draw(&j, 2) ? 20 * US : 4000 * US);
	j.at[0] = j.at[1] = 1000 * US;
	for (uint64_t step = 0; step < 40; step++) {
		const uint64_t begin = j.at[0], end = phases(&j, begin) + draw(&j, 100 * US) + 1;

		others(&j, begin, end);
		sched(&j, j.s.main, step, end - begin);
		sched(&j, j.worker, step, end - begin);
		if (has_steps)
			synth__step(&j.s, step, begin, end);
		j.at[0] = end + (gaps ? draw(&j, 500 * US) : 0);
	}
	snprintf(
		summary, sizeof(summary),
		"{\"windows\": [{\"begin_ns\": %llu, \"end_ns\": %llu}], \"cpu\": {\"busy_ns\": 9, "
		"\"idle_ns\": 1, \"process_ns\": 30, \"wall_ns\": 10}}",
		1000 * US, (unsigned long long)j.at[0]);
	synth__open(&j.s, draw(&j, 4) ? summary : "{}");
	return j.s;
}
