// SPDX-License-Identifier: BSD-2-Clause
/* The stacks with the longest times, and their callers. */
#include "common/util.h"
#include "page/page_internal.h"

struct flame_node {
	uint32_t stack; /* index in stacks */
	uint64_t cpu_ns, device_ns;
};

/* Sums time with all that was called. A caller comes before what it calls. */
static struct flame_node *totals(const struct stacks *s)
{
	struct flame_node *nodes = calloc(s->cnt + 1, sizeof(*nodes));

	for (size_t i = 0; nodes && i < s->cnt; i++)
		nodes[i] = (struct flame_node){(uint32_t)i, s->nodes[i].self_ns,
					       s->nodes[i].device_ns};
	for (size_t i = s->cnt; nodes && i-- > 1;) {
		struct flame_node *parent = &nodes[s->nodes[i].parent];

		parent->cpu_ns += nodes[i].cpu_ns;
		parent->device_ns += nodes[i].device_ns;
	}
	return nodes;
}

struct whole {
	double cpu_ns, device_ns;
};

/* The larger one of its shares of the host's and the device's time. */
static double weight(const struct flame_node *n, const struct whole *w)
{
	const double cpu = w->cpu_ns ? (double)n->cpu_ns / w->cpu_ns : 0;
	const double device = w->device_ns ? (double)n->device_ns / w->device_ns : 0;

	return cpu > device ? cpu : device;
}

/* A caller weighs at least as much as what it calls. At equal weight it comes first. */
static int by_weight(const void *x, const void *y, void *ctx)
{
	const struct flame_node *p = x, *q = y;
	const double a = weight(p, ctx), b = weight(q, ctx);

	if (a != b)
		return a > b ? -1 : 1;
	return p->stack < q->stack ? -1 : p->stack > q->stack;
}

static int write_node(const struct stacks *s, const struct flame_node *n, const uint32_t *numbers,
		      struct page_names *names, struct text_file *out)
{
	const struct stack_node *node = &s->nodes[n->stack];
	uint32_t name;
	int err = page_names__number(names, node->frame, &name);

	if (!err)
		text_file__print(out, "[%u,%u,%llu,%llu,%llu,%llu]", numbers[node->parent], name,
				 (unsigned long long)n->cpu_ns, (unsigned long long)node->self_ns,
				 (unsigned long long)n->device_ns, (unsigned long long)node->calls);
	return err;
}

/* Writes all nodes but the root as [number of the caller, name, ns, own ns, device ns, calls]. The
 * root is 0. */
static int write_nodes(const struct stacks *s, struct flame_node *nodes, struct page_names *names,
		       struct text_file *out)
{
	auto_free uint32_t *numbers = calloc(s->cnt + 1, sizeof(*numbers));
	struct whole w = {(double)nodes[0].cpu_ns, (double)nodes[0].device_ns};
	size_t cnt = 0, timed = 1;
	int err = numbers ? 0 : -ENOMEM;

	text_file__print(out, "{\"cpu_ns\":%llu,\"device_ns\":%llu,\"nodes\":[",
			 (unsigned long long)nodes[0].cpu_ns,
			 (unsigned long long)nodes[0].device_ns);
	if (s->cnt > 1)
		qsort_r(nodes + 1, s->cnt - 1, sizeof(*nodes), by_weight, &w);
	while (timed < s->cnt && (nodes[timed].cpu_ns || nodes[timed].device_ns))
		timed++;
	for (size_t i = 1; i < timed && cnt < FLAME_MAX && !err; i++) {
		text_file__put(out, ",\n", cnt ? 2 : 0);
		numbers[nodes[i].stack] = (uint32_t)++cnt;
		err = write_node(s, &nodes[i], numbers, names, out);
	}
	text_file__print(out, "],\"left_out\":%zu,\"cut\":%llu}", timed - 1 - cnt,
			 (unsigned long long)s->cut);
	return err;
}

int flame__write(const struct stacks *s, struct page_names *names, struct text_file *out)
{
	auto_free struct flame_node *nodes = totals(s);

	return nodes ? write_nodes(s, nodes, names, out) : -ENOMEM;
}
