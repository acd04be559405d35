// SPDX-License-Identifier: BSD-2-Clause
/* Kernels, copies, sets and host functions on their way into a stream. */
#include "engine.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS	 1024
#define MAX_SHARED_BYTES 232448
#define COPY_NS		 1000  /* of latency, beside the bytes */
#define STAGED_BYTES	 65536 /* up to which a copy from pageable memory returns at once */

/* ---- kernels ---- */

static uint32_t shares_of(const struct sim_op *op)
{
	uint64_t blocks = (uint64_t)op->grid[0] * op->grid[1] * op->grid[2];
	uint32_t per_sm = sim_occupancy(op->block[0] * op->block[1] * op->block[2],
					op->static_shared + op->dynamic_shared, op->registers);
	uint64_t shares = blocks * SIM_SM_SHARES / ((uint64_t)(per_sm ? per_sm : 1) * 132);

	return shares < 1 ? 1 : shares > SIM_SM_SHARES ? SIM_SM_SHARES : (uint32_t)shares;
}

int sim_launch(struct sim_stream *s, struct sim_function *f, const struct sim_launch *launch)
{
	uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
	uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
	struct sim_op *op;

	if (!s)
		return SIM_INVALID_HANDLE;
	if (!f || f->magic != SIM_FUNCTION_MAGIC)
		return SIM_INVALID_HANDLE;
	if (!blocks || !threads || threads > MAX_THREADS ||
	    launch->dynamic_shared > MAX_SHARED_BYTES)
		return SIM_INVALID_VALUE;
	op = sim_op_new(SIM_KERNEL);
	op->name = f->name;
	memcpy(op->grid, launch->grid, sizeof(op->grid));
	memcpy(op->block, launch->block, sizeof(op->block));
	op->dynamic_shared = launch->dynamic_shared;
	op->static_shared = f->static_shared;
	op->registers = f->registers;
	op->local_bytes = f->local_bytes;
	op->duration_ns = launch->duration_ns ? launch->duration_ns : sim_kernel_ns(op);
	op->on_start = launch->on_start;
	op->on_end = launch->on_end;
	op->argument = launch->argument;
	op->unit = SIM_UNIT_SM;
	op->shares = launch->shares ? launch->shares : shares_of(op);
	if (sim_config.verbose > 1)
		fprintf(stderr, "simgpu: kernel %s <<<%u, %u>>>\n", f->name, op->grid[0],
			op->block[0]);
	return sim_stream_submit(s, op);
}

/* ---- copies and sets ---- */

static const char *const copy_names[] = {"HtoH", "HtoD", "DtoH", "DtoD", "PtoP"};
static const enum sim_unit copy_units[] = {SIM_UNIT_NONE, SIM_UNIT_H2D, SIM_UNIT_D2H, SIM_UNIT_P2P,
					   SIM_UNIT_P2P};

static void classify(struct sim_op *op, const struct sim_stream *s)
{
	struct sim_range src, dst;
	bool src_known = sim_memory_find(op->src, &src), dst_known = sim_memory_find(op->dst, &dst);
	bool src_on = src_known && src.type >= SIM_DEVICE;
	bool dst_on = dst_known && dst.type >= SIM_DEVICE;

	op->src_type = src_known ? src.type : SIM_PAGEABLE;
	op->dst_type = dst_known ? dst.type : SIM_PAGEABLE;
	op->src_dev = src_on ? src.dev : s->dev;
	op->dst_dev = dst_on ? dst.dev : s->dev;
	if (src_on && dst_on)
		op->copy_kind = src.dev == dst.dev ? SIM_D2D : SIM_P2P;
	else
		op->copy_kind = dst_on ? SIM_H2D : src_on ? SIM_D2H : SIM_H2H;
}

static bool is_pageable(const struct sim_op *op)
{
	return op->src_type == SIM_PAGEABLE || op->dst_type == SIM_PAGEABLE;
}

static double copy_gbs(const struct sim_op *op)
{
	if (op->copy_kind == SIM_D2D)
		return sim_config.hbm_gbs;
	if (op->copy_kind == SIM_P2P)
		return sim_config.nvlink_gbs;
	return is_pageable(op) ? sim_config.pageable_gbs : sim_config.pcie_gbs;
}

/* A small pageable source may change as soon as the call returns. */
static bool stage(struct sim_op *op)
{
	if (op->src_type != SIM_PAGEABLE || op->bytes > STAGED_BYTES)
		return false;
	op->staged = malloc(op->bytes);
	if (op->staged)
		memcpy(op->staged, op->src, op->bytes);
	return op->staged;
}

int sim_copy(struct sim_stream *s, void *dst, const void *src, size_t bytes, bool async)
{
	struct sim_op *op;
	bool wait;
	int result;

	if (!s)
		return SIM_INVALID_HANDLE;
	if (!bytes)
		return SIM_OK;
	if (!dst || !src)
		return SIM_INVALID_VALUE;
	if (s->capture && !async)
		return SIM_CAPTURE_UNSUPPORTED;
	op = sim_op_new(SIM_COPY);
	op->dst = dst;
	op->src = src;
	op->bytes = bytes;
	op->async = async;
	classify(op, s);
	op->name = copy_names[op->copy_kind];
	op->unit = copy_units[op->copy_kind];
	op->shares = 1;
	op->duration_ns = COPY_NS + (uint64_t)((double)bytes / copy_gbs(op));
	wait = !async ? op->copy_kind != SIM_D2D : is_pageable(op);
	if (wait && !s->capture && stage(op))
		wait = false;
	result = sim_stream_submit(s, op);
	if (!result && wait && !s->capture)
		sim_stream_drain(s);
	return result;
}

int sim_set(struct sim_stream *s, void *dst, uint32_t value, uint32_t value_bytes, size_t count,
	    bool async)
{
	struct sim_op *op;
	struct sim_range range;

	if (!s)
		return SIM_INVALID_HANDLE;
	if (!count)
		return SIM_OK;
	if (!sim_memory_find(dst, &range))
		return SIM_INVALID_VALUE;
	op = sim_op_new(SIM_SET);
	op->name = "memset";
	op->dst = dst;
	op->dst_type = range.type;
	op->value = value;
	op->value_bytes = value_bytes;
	op->bytes = count * value_bytes;
	op->async = async;
	op->duration_ns = COPY_NS + (uint64_t)((double)op->bytes / sim_config.hbm_gbs);
	return sim_stream_submit(s, op);
}

/* ---- host functions ---- */

static struct {
	pthread_cond_t work;
	pthread_mutex_t mutex;
	struct sim_op *head, *tail;
	bool started;
} host = {.work = PTHREAD_COND_INITIALIZER, .mutex = PTHREAD_MUTEX_INITIALIZER};

static void *host_main(void *unused)
{
	struct sim_op *op;

	pthread_setname_np(pthread_self(), "simgpu-host");
	for (;;) {
		pthread_mutex_lock(&host.mutex);
		while (!host.head)
			pthread_cond_wait(&host.work, &host.mutex);
		op = host.head;
		host.head = op->next;
		pthread_mutex_unlock(&host.mutex);
		op->function(op->argument);
		sim_op_finish(op, sim_now());
	}
	return unused;
}

static void start_host_thread(void)
{
	sigset_t all, before;
	pthread_t thread;

	host.started = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, host_main, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sim_host_queue(struct sim_op *op)
{
	pthread_mutex_lock(&host.mutex);
	op->next = NULL;
	if (host.head)
		host.tail->next = op;
	else
		host.head = op;
	host.tail = op;
	if (!host.started)
		start_host_thread();
	pthread_cond_signal(&host.work);
	pthread_mutex_unlock(&host.mutex);
}

int sim_host_function(struct sim_stream *s, void (*function)(void *), void *argument)
{
	struct sim_op *op;

	if (!s)
		return SIM_INVALID_HANDLE;
	op = sim_op_new(SIM_HOST);
	op->name = "host function";
	op->function = function;
	op->argument = argument;
	return sim_stream_submit(s, op);
}
