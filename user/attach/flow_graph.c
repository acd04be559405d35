// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any way from a start to an end contains all dominators. The search goes along one way. A node of
 * it is a dominator if no earlier node leads around it, directly or over nodes beside the way, to a
 * later node.
 */
#include "attach/flow_graph.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

struct search {
	const struct flow_node *nodes;
	uint16_t cnt;
	uint16_t *stack;
	size_t depth;
	uint16_t *parent; /* FLOW_NOWHERE: a start */
	uint16_t *way;	  /* one way from a start to an end */
	size_t way_cnt;
	size_t *place; /* position in the way, from 1; 0: not in the way */
	bool *seen;
	size_t reached; /* position of the last node of the way that is reached from beside it */
};

static void push_new(struct search *s, uint16_t node, uint16_t parent)
{
	if (node >= s->cnt || s->seen[node])
		return;
	s->seen[node] = true;
	s->parent[node] = parent;
	s->stack[s->depth++] = node;
}

static uint16_t find_end(struct search *s)
{
	for (uint16_t i = 0; i < s->cnt; i++)
		if (s->nodes[i].is_start)
			push_new(s, i, FLOW_NOWHERE);
	while (s->depth) {
		const uint16_t node = s->stack[--s->depth];

		if (s->nodes[node].is_end)
			return node;
		for (int i = 0; i < FLOW_SUCCESSORS; i++)
			push_new(s, s->nodes[node].next[i], node);
	}
	return FLOW_NOWHERE;
}

static void keep_way(struct search *s, uint16_t end)
{
	for (uint16_t node = end; node != FLOW_NOWHERE; node = s->parent[node])
		s->way_cnt++;
	for (size_t place = s->way_cnt; place > 0; place--, end = s->parent[end]) {
		s->way[place - 1] = end;
		s->place[end] = place;
	}
	memset(s->seen, 0, s->cnt * sizeof(*s->seen));
	s->depth = 0;
}

static void reach(struct search *s, uint16_t node)
{
	if (node >= s->cnt)
		return;
	if (!s->place[node])
		push_new(s, node, FLOW_NOWHERE);
	else if (s->place[node] > s->reached)
		s->reached = s->place[node];
}

static void reach_next(struct search *s, uint16_t node)
{
	if (s->nodes[node].is_end)
		s->reached = s->way_cnt + 1;
	for (int i = 0; i < FLOW_SUCCESSORS; i++)
		reach(s, s->nodes[node].next[i]);
}

/* Follows the edges from nodes that were reached beside the way. */
static void reach_aside(struct search *s)
{
	while (s->depth)
		reach_next(s, s->stack[--s->depth]);
}

static int pick_dominators(struct search *s, uint16_t *out)
{
	int found = 0;

	for (uint16_t i = 0; i < s->cnt; i++)
		if (s->nodes[i].is_start)
			reach(s, i);
	for (size_t place = 1; place <= s->way_cnt; place++) {
		reach_aside(s);
		if (s->reached <= place)
			out[found++] = s->way[place - 1];
		reach_next(s, s->way[place - 1]);
	}
	return found;
}

int flow_graph__dominators(const struct flow_node *nodes, uint16_t cnt, uint16_t *out)
{
	auto_free uint16_t *stack = calloc(cnt + 1u, sizeof(*stack));
	auto_free uint16_t *parent = calloc(cnt + 1u, sizeof(*parent));
	auto_free uint16_t *way = calloc(cnt + 1u, sizeof(*way));
	auto_free size_t *place = calloc(cnt + 1u, sizeof(*place));
	auto_free bool *seen = calloc(cnt + 1u, sizeof(*seen));
	struct search s = {.nodes = nodes,
			   .cnt = cnt,
			   .stack = stack,
			   .parent = parent,
			   .way = way,
			   .place = place,
			   .seen = seen};
	uint16_t end;

	if (!stack || !parent || !way || !place || !seen)
		return -ENOMEM;
	end = find_end(&s);
	if (end == FLOW_NOWHERE)
		return -ENOENT;
	keep_way(&s, end);
	return pick_dominators(&s, out);
}
