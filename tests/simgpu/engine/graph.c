// SPDX-License-Identifier: BSD-2-Clause
/* CUDA graphs: captured from streams, launched as operations that depend on each other. */
#include "engine.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define GRAPH_MAGIC 0x47524146u

static _Atomic uint32_t next_id = 1, alive;
static _Atomic uint32_t time_ = 1; /* grows when CUPTI leaves */
static _Atomic bool is_traced;

uint32_t sim_graph_cnt(void)
{
	return alive;
}

struct sim_graph *sim_graph_get(void *handle)
{
	struct sim_graph *g = handle;

	return !handle || (uintptr_t)handle & 7 || g->magic != GRAPH_MAGIC ? NULL : g;
}

static struct sim_graph *graph_new(void)
{
	struct sim_graph *g = calloc(1, sizeof(*g));

	if (g) {
		g->magic = GRAPH_MAGIC;
		g->id = atomic_fetch_add(&next_id, 1);
		g->capture_id = g->id;
		alive++;
	}
	return g;
}

void sim_graph_free(struct sim_graph *g)
{
	for (uint32_t i = 0; i < g->cnt; i++)
		free(g->nodes[i].after);
	free(g->nodes);
	alive--;
	g->magic = 0;
	free(g);
}

int sim_capture_begin(struct sim_stream *s)
{
	if (s->capture || s->legacy)
		return SIM_CAPTURE_UNSUPPORTED;
	s->capture = graph_new();
	if (!s->capture)
		return SIM_OUT_OF_MEMORY;
	s->capture->origin = s;
	s->tail_cnt = 0;
	return SIM_OK;
}

#define RELAXED 2 /* CU_STREAM_CAPTURE_MODE_RELAXED */

void sim_capture_disturb(void)
{
	if (sim_thread()->capture_mode == RELAXED)
		return;
	sim_lock();
	for (int dev = 0; dev < sim_config.device_cnt; dev++)
		for (struct sim_stream *s = sim_device_streams(dev); s; s = s->next)
			if (s->capture && s->capture->global)
				s->capture->invalid = true;
	sim_unlock();
}

static struct sim_node *add_node(struct sim_graph *g)
{
	if (g->cnt == g->cap) {
		uint32_t cap = g->cap ? g->cap * 2 : 64;
		struct sim_node *more = realloc(g->nodes, cap * sizeof(*more));

		if (!more)
			return NULL;
		g->nodes = more;
		g->cap = cap;
	}
	return &g->nodes[g->cnt++];
}

int sim_capture_op(struct sim_stream *s, struct sim_op *op)
{
	const struct sim_tool *tool = sim_tool();
	struct sim_graph *g = s->capture;
	struct sim_node *node;
	uint32_t *tails;

	sim_lock();
	node = add_node(g);
	tails = realloc(s->tails, (s->tail_cnt + 1) * sizeof(*tails));
	if (node && tails) {
		/* the stream's old tails become the node's, and the node the only tail */
		*node = (struct sim_node){.op = *op,
					  .after = tails,
					  .after_cnt = s->tail_cnt,
					  .id = (uint64_t)g->id << 32 | g->cnt};
		node->op.dev = s->dev;
		s->tails = malloc(sizeof(*s->tails));
		if (!s->tails)
			abort();
		s->tails[0] = g->cnt - 1;
		s->tail_cnt = 1;
	}
	sim_unlock();
	if (node && tails && tool && tool->node_created)
		tool->node_created(g, op->kind);
	free(op->staged);
	free(op);
	return node && tails ? SIM_OK : SIM_OUT_OF_MEMORY;
}

int sim_capture_end(struct sim_stream *s, struct sim_graph **out)
{
	struct sim_graph *g = s->capture;

	*out = NULL;
	if (!g || g->origin != s)
		return SIM_CAPTURE_INVALIDATED;
	sim_lock();
	for (int dev = 0; dev < sim_config.device_cnt; dev++)
		for (struct sim_stream *other = sim_device_streams(dev); other; other = other->next)
			if (other->capture == g)
				other->capture = NULL;
	sim_unlock();
	if (g->invalid) {
		sim_graph_free(g);
		return SIM_CAPTURE_INVALIDATED;
	}
	*out = g;
	return SIM_OK;
}

int sim_graph_copy(const struct sim_graph *g, struct sim_graph **out)
{
	struct sim_graph *copy = graph_new();

	*out = copy;
	if (!copy)
		return SIM_OUT_OF_MEMORY;
	for (uint32_t i = 0; i < g->cnt; i++) {
		struct sim_node *node = add_node(copy);

		if (!node)
			return SIM_OUT_OF_MEMORY;
		*node = g->nodes[i];
		node->id = (uint64_t)copy->id << 32 | copy->cnt;
		node->after = malloc((node->after_cnt + 1) * sizeof(*node->after));
		if (!node->after)
			return SIM_OUT_OF_MEMORY;
		memcpy(node->after, g->nodes[i].after, node->after_cnt * sizeof(*node->after));
	}
	return SIM_OK;
}

/* An operation of this launch, from its node's template. */
static struct sim_op *instantiate(const struct sim_graph *g, const struct sim_node *node,
				  const struct sim_stream *s)
{
	struct sim_op *op = sim_op_new(node->op.kind), now = *op;

	*op = node->op;
	op->correlation = now.correlation;
	op->tid = now.tid;
	op->api = now.api;
	op->submit_ns = now.submit_ns;
	op->stream_id = s->id;
	op->priority = s->priority;
	op->graph_id = g->id;
	op->node_id = node->id;
	return op;
}

static void note_start(struct sim_op *head)
{
	struct sim_op *tail = head->argument;

	tail->first_ns = head->end_ns;
}

/* head, the nodes after their own and it, and the tail after the nodes: in one step, for the
 * stream. */
static void submit_nodes(struct sim_graph *g, struct sim_stream *s, struct sim_op **ops)
{
	struct sim_op *head = sim_op_new(SIM_MARK), *tail = sim_op_new(SIM_MARK);
	const struct sim_tool *tool = sim_tool();
	uint64_t earliest;

	head->dev = tail->dev = s->dev;
	head->argument = tail;
	head->on_end = note_start;
	tail->graph_id = g->id;
	tail->stream_id = s->id;
	if (tool && tool->submitted)
		tool->submitted(tail);
	sim_lock();
	sim_advance_locked();
	/* Not before what was replayed just now: an operation that has ended is waited for no more.
	 */
	earliest = sim_now() + sim_config.launch_ns;
	sim_stream_append(s, head);
	sim_op_after(tail, head);
	for (uint32_t i = 0; i < g->cnt; i++) {
		sim_op_after(ops[i], head);
		for (uint32_t k = 0; k < g->nodes[i].after_cnt; k++)
			sim_op_after(ops[i], ops[g->nodes[i].after[k]]);
		sim_op_after(tail, ops[i]);
	}
	for (uint32_t i = 0; i < g->cnt; i++)
		sim_op_submit(ops[i], earliest);
	sim_stream_append(s, tail);
	sim_op_submit(tail, earliest);
	sim_op_submit(head, earliest);
	sim_unlock();
}

void sim_graphs_trace(bool on)
{
	is_traced = on;
}

void sim_graphs_leave(void)
{
	is_traced = false;
	time_++;
}

int sim_graph_launch(struct sim_graph *g, struct sim_stream *s)
{
	const struct sim_tool *tool = sim_tool();
	struct sim_op **ops;

	if (s->capture)
		return SIM_CAPTURE_UNSUPPORTED;
	if (g->traced && g->traced != time_)
		return sim_break(SIM_LAUNCH_FAILED);
	if (is_traced)
		g->traced = time_;
	sim_context_touch();
	ops = malloc((g->cnt + 1) * sizeof(struct sim_op *));
	if (!ops)
		return SIM_OUT_OF_MEMORY;
	for (uint32_t i = 0; i < g->cnt; i++) {
		ops[i] = instantiate(g, &g->nodes[i], s);
		if (tool && tool->submitted)
			tool->submitted(ops[i]);
	}
	submit_nodes(g, s, ops);
	free(ops);
	return SIM_OK;
}
