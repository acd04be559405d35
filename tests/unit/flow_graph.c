// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "attach/flow_graph.h"
#include "common/util.h"

#define MOST   24
#define GRAPHS 20000

/* Uses the definition: can the end be reached without this node? */
static bool end_reached_without(const struct flow_node *nodes, uint16_t cnt, uint16_t without)
{
	bool seen[MOST] = {false};
	bool more = true;

	for (uint16_t i = 0; i < cnt; i++)
		seen[i] = nodes[i].is_start && i != without;
	while (more) {
		more = false;
		for (uint16_t i = 0; i < cnt; i++)
			for (int j = 0; j < FLOW_SUCCESSORS && seen[i]; j++) {
				const uint16_t next = nodes[i].next[j];

				if (next < cnt && next != without && !seen[next])
					more = seen[next] = true;
			}
	}
	for (uint16_t i = 0; i < cnt; i++)
		if (seen[i] && nodes[i].is_end)
			return true;
	return false;
}

static void random_graph(struct flow_node *nodes, uint16_t cnt, unsigned int *seed)
{
	memset(nodes, 0, cnt * sizeof(*nodes));
	for (uint16_t i = 0; i < cnt; i++) {
		const bool branches = rand_r(seed) % 3 == 0;

		nodes[i].next[0] = branches ? (uint16_t)(rand_r(seed) % cnt) : FLOW_NOWHERE;
		nodes[i].next[1] = rand_r(seed) % 12 ? (uint16_t)(i + 1) : FLOW_NOWHERE;
		nodes[i].is_end = i == cnt - 1 || rand_r(seed) % 24 == 0;
		nodes[i].is_start = !i || rand_r(seed) % 40 == 0;
	}
}

Test(flow_graph, dominators_are_those_of_the_definition)
{
	struct flow_node nodes[MOST];
	uint16_t out[MOST];
	unsigned int seed = 1;
	size_t found = 0;

	for (int graph = 0; graph < GRAPHS; graph++) {
		const uint16_t cnt = (uint16_t)(1 + rand_r(&seed) % MOST);
		bool is_out[MOST] = {false};
		int dominators;

		random_graph(nodes, cnt, &seed);
		dominators = flow_graph__dominators(nodes, cnt, out);
		if (!end_reached_without(nodes, cnt, FLOW_NOWHERE)) {
			cr_assert_eq(dominators, -ENOENT);
			continue;
		}
		for (int i = 0; i < dominators; i++)
			is_out[out[i]] = true;
		for (uint16_t i = 0; i < cnt; i++)
			cr_assert_eq(is_out[i], !end_reached_without(nodes, cnt, i),
				     "graph %d, node %u", graph, i);
		found += dominators > 0 ? (size_t)dominators : 0;
	}
	cr_expect_gt(found, GRAPHS);
}

/* 0 -> 1 or 2 -> 3 -> 4, an end; out of order in memory */
Test(flow_graph, dominators_come_in_the_order_of_the_way)
{
	const struct flow_node nodes[] = {
		{.next = {3, 2}, .is_start = true},
		{.next = {FLOW_NOWHERE, FLOW_NOWHERE}, .is_end = true},
		{.next = {4, FLOW_NOWHERE}},
		{.next = {4, FLOW_NOWHERE}},
		{.next = {1, FLOW_NOWHERE}},
	};
	uint16_t out[ARRAY_SIZE(nodes)];

	cr_assert_eq(flow_graph__dominators(nodes, ARRAY_SIZE(nodes), out), 3);
	cr_expect_eq(out[0], 0);
	cr_expect_eq(out[1], 4);
	cr_expect_eq(out[2], 1);
}

Test(flow_graph, without_a_node_there_is_no_way)
{
	cr_expect_eq(flow_graph__dominators(NULL, 0, NULL), -ENOENT);
}
