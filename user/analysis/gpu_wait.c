// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/gpu_wait.h"
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/util.h"
#include "model/call_stack.h"

#define BLOCKED_NS 100000 /* a launch takes a twentieth of it; a longer one was blocked */

static bool may_wait(const struct analysis *a, const struct span *s)
{
	const char *name = analysis__name(a, s->ev.name);
	const bool copies = strstr(name, "Memcpy") || strstr(name, "Memset");

	if (s->kind != KIND_RUNTIME)
		return false;
	if (strstr(name, "Synchronize") || (copies && !strstr(name, "Async")))
		return true;
	return (copies || strstr(name, "Launch")) && s->ev.dur_ns >= BLOCKED_NS;
}

/* own: on the thread of the steps. That one waits for the threads of its backward pass, too. */
static int add_calls(struct analysis *a, const struct step *step, const struct span *s, bool own)
{
	struct gpu_wait *g = &a->gpu_wait;
	const uint64_t step_end = step->ts_ns + step->dur_ns;
	int err = 0;

	for (; s && !err; s = s->next_sibling) {
		const uint64_t end = s->ev.ts_ns + s->ev.dur_ns;
		const struct gpu_call call = {
			.begin_ns = s->ev.ts_ns > step->ts_ns ? s->ev.ts_ns : step->ts_ns,
			.end_ns = end < step_end ? end : step_end,
			.id = s->ev.id,
			.name = s->ev.name,
			.stack = span__stack(a->r, s),
			.phase = s->phase,
		};

		if (!may_wait(a, s))
			err = add_calls(a, step, s->first_child, own);
		else if (call.begin_ns < call.end_ns && (own || s->phase == KIND_BACKWARD))
			err = ARRAY_PUSH(g->calls, g->call_cnt, g->call_cap, call);
	}
	return err;
}

static int by_begin(const void *x, const void *y)
{
	const struct gpu_call *a = x, *b = y;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* If several threads wait at the same time, the first one gets the time. */
static void part_calls(struct gpu_wait *g)
{
	uint64_t until_ns = 0;
	size_t cnt = 0;

	if (g->call_cnt)
		qsort(g->calls, g->call_cnt, sizeof(*g->calls), by_begin);
	for (size_t i = 0; i < g->call_cnt; i++) {
		struct gpu_call call = g->calls[i];

		if (call.begin_ns < until_ns)
			call.begin_ns = until_ns;
		if (call.begin_ns >= call.end_ns)
			continue;
		until_ns = call.end_ns;
		g->calls[cnt++] = call;
	}
	g->call_cnt = cnt;
}

int gpu_wait__begin_step(struct analysis *a, const struct batch *b)
{
	struct gpu_wait *g = &a->gpu_wait;
	int err = 0;

	g->call_cnt = g->any.call = 0;
	for (size_t i = 0; i < GPU_WAIT_DEVICES; i++)
		g->devices[i].call = 0;
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		err = add_calls(a, b->step, b->tracks[i].roots,
				b->tracks[i].track->id == b->step->track);
	part_calls(g);
	return err;
}

/* Adds computation from from_ns to to_ns. `all`: of any device, so it counts for the calls. */
static void add_piece(struct gpu_wait *g, struct gpu_use *use, uint64_t from_ns, uint64_t to_ns,
		      bool all)
{
	while (use->call < g->call_cnt && g->calls[use->call].end_ns <= from_ns)
		use->call++;
	for (size_t i = use->call; i < g->call_cnt && g->calls[i].begin_ns < to_ns; i++) {
		struct gpu_call *c = &g->calls[i];
		const uint64_t begin_ns = c->begin_ns > from_ns ? c->begin_ns : from_ns;
		const uint64_t end_ns = c->end_ns < to_ns ? c->end_ns : to_ns;

		use->waited_ns += end_ns - begin_ns;
		c->waited_ns += all ? end_ns - begin_ns : 0;
	}
}

static void add_computation(struct gpu_wait *g, struct gpu_use *use, const struct device_work *w,
			    bool all)
{
	const uint64_t more_ns = busy_time__add(&use->computation, w->begin_ns, w->end_ns);

	if (more_ns)
		add_piece(g, use, w->end_ns - more_ns, w->end_ns, all);
}

/* Takes back the call's counted time after at_ns, because the call ends there. */
static void end_call(struct gpu_use *use, struct gpu_call *c, uint64_t at_ns, bool all)
{
	const uint64_t until_ns =
		use->computation.until_ns < c->end_ns ? use->computation.until_ns : c->end_ns;
	const uint64_t from_ns = at_ns > c->begin_ns ? at_ns : c->begin_ns;

	if (until_ns <= from_ns)
		return;
	use->waited_ns -= until_ns - from_ns;
	c->waited_ns -= all ? until_ns - from_ns : 0;
}

/* The call waits for a copy, which has begun now. From here on the copy takes the time, not the
 * computation before it. */
static void add_copy(struct gpu_wait *g, const struct device_work *w)
{
	for (size_t i = g->any.call; i < g->call_cnt && g->calls[i].begin_ns <= w->begin_ns; i++) {
		struct gpu_call *c = &g->calls[i];

		if (c->id != w->id || c->end_ns <= w->begin_ns)
			continue;
		for (size_t d = 0; d < GPU_WAIT_DEVICES; d++)
			end_call(&g->devices[d], c, w->begin_ns, false);
		end_call(&g->any, c, w->begin_ns, true);
		c->end_ns = w->begin_ns;
	}
}

void gpu_wait__add(struct analysis *a, const struct device_work *w)
{
	struct gpu_wait *g = &a->gpu_wait;
	struct gpu_use *use;

	if (w->track->device < 0 || w->track->device >= GPU_WAIT_DEVICES)
		return;
	use = &g->devices[w->track->device];
	busy_time__add(&use->work, w->begin_ns, w->end_ns);
	if (w->kind != KIND_KERNEL && !w->continued)
		add_copy(g, w);
	if (w->kind != KIND_KERNEL || kernel_name__is_collective(analysis__name(a, w->name)))
		return;
	add_computation(g, use, w, false);
	add_computation(g, &g->any, w, true);
}

static int add_row(struct analysis *a, const struct gpu_call *c)
{
	const struct stat_key key = {.id = c->name, .child = c->stack};
	struct stat *stat = stat_map__at(&a->gpu_waits, &key);

	if (!stat)
		return -ENOMEM;
	stat__add(stat, c->waited_ns, 0);
	return 0;
}

/* Until until_ns the device computed work from before the window. `all`: as in add_piece(). */
static void add_unrecorded(struct gpu_wait *g, struct gpu_use *use, uint64_t until_ns, bool all)
{
	for (size_t i = 0; i < g->call_cnt && g->calls[i].begin_ns < until_ns; i++) {
		struct gpu_call *c = &g->calls[i];
		const uint64_t end_ns = c->end_ns < until_ns ? c->end_ns : until_ns;
		const uint64_t ns = end_ns > c->begin_ns ? end_ns - c->begin_ns : 0;

		use->waited_ns += ns;
		c->waited_ns += all ? ns : 0;
	}
}

int gpu_wait__end_step(struct analysis *a)
{
	struct gpu_wait *g = &a->gpu_wait;
	int err = 0;

	add_unrecorded(g, &g->any, first_work__known_from(a, ANY_DEVICE), true);
	for (int d = 0; d < GPU_WAIT_DEVICES; d++)
		add_unrecorded(g, &g->devices[d], first_work__known_from(a, d), false);
	g->step_ns = 0;
	memset(g->phase_ns, 0, sizeof(g->phase_ns));
	for (size_t i = 0; i < g->call_cnt && !err; i++) {
		const struct gpu_call *c = &g->calls[i];

		g->step_ns += c->waited_ns;
		g->phase_ns[c->phase] += c->waited_ns;
		if (c->waited_ns)
			err = add_row(a, c);
	}
	return err;
}

void gpu_wait__free(struct analysis *a)
{
	free(a->gpu_wait.calls);
	stat_map__free(&a->gpu_waits);
}

int gpu_wait__busiest(const struct analysis *a, uint64_t *work_ns)
{
	int best = -1;

	*work_ns = 0;
	for (int i = 0; i < GPU_WAIT_DEVICES; i++) {
		const uint64_t ns = a->gpu_wait.devices[i].work.total_ns;

		if (ns <= *work_ns)
			continue;
		*work_ns = ns;
		best = i;
	}
	return best;
}
