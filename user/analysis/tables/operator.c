// SPDX-License-Identifier: BSD-2-Clause
/*
 * Operator Summary. With --op-detail, each operator has indented rows. First come the calls it
 * made, by name, each with the device work it launched. Then comes the device work that the
 * operator launched itself, and last its backward nodes. These nodes are operators of their own and
 * not part of its times.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/forward_ops.h"
#include "analysis/left_out.h"
#include "analysis/order.h"
#include "analysis/tables/spans_by_name.h"
#include "common/counted.h"
#include "common/util.h"

#define WORTH_A_NOTE 0.01 /* share of all device time of the table */
/* least share of the steps' time for a note about operators in backward nodes */
#define IN_NODES 0.05

struct operators {
	struct by_name names;
	struct stat_map nested;	     /* by group: operators inside others that have a row of
					their own */
	struct by_name inside;	     /* functions that the user chose, inside other operators */
	struct forward_ops forwards; /* of the current batch */
	struct stat_map backward;    /* child: a backward node of the operator */
	struct stat_map details;     /* child 0: launched by the operator itself; device 0: the
					child's own row */
	struct stat_map executed;    /* by operator: what an engine's threads ran of it */
	struct stat_map outside;     /* calls outside of all operators that launched work */
	struct stat in_nodes;	     /* operators inside a backward node that have no row */
	struct left_out_rows estimates;
	uint64_t nodes_ns;    /* time of the process's recorded backward nodes */
	uint64_t absorbed_ns; /* the part of nodes_ns that estimated nodes may have taken */
};

static bool is_operator(const struct span *s)
{
	return s->kind == KIND_OPERATOR || s->kind == KIND_PYTHON_OP;
}

static bool is_in_operator(const struct span *s)
{
	while (s && !is_operator(s) && !(s->kind == KIND_EXECUTION && s->operator_name))
		s = s->parent;
	return s != NULL;
}

static int add_outside(struct operators *o, const struct span *launch)
{
	const struct stat_key key = {.id = launch->ev.name};
	struct stat *stat = stat_map__at(&o->outside, &key);

	if (!stat)
		return -ENOMEM;
	stat__add(stat, 0, launch->device_ns);
	return 0;
}

static bool is_of_category(const struct analysis *a, const struct span *s, enum span_category cat)
{
	return recording__category(a->r, s->ev.name) == cat;
}

static bool is_function_inside(const struct analysis *a, const struct span *s)
{
	return s->kind == KIND_OPERATOR_INNER && is_of_category(a, s, CAT_FUNCTION);
}

static bool is_in_node(const struct analysis *a, const struct span *s)
{
	return s->kind == KIND_OPERATOR_INNER && is_of_category(a, s, CAT_OPERATOR) && s->parent &&
	       s->parent->kind == KIND_OPERATOR && is_of_category(a, s->parent, CAT_BACKWARD_NODE);
}

static int add_detail(struct operators *o, struct stat_key key, uint64_t cpu_ns, uint64_t gpu_ns)
{
	struct stat *stat = stat_map__at(&o->details, &key);

	if (!stat)
		return -ENOMEM;
	stat__add(stat, cpu_ns, gpu_ns);
	return 0;
}

static int add_devices(struct operators *o, struct stat_key key, const struct span *s)
{
	int err = 0;

	for (const struct span *d = s->first_device; d && !err; d = d->next_device) {
		if (d->kind == KIND_SYNC)
			continue; /* a wait, not work */
		key.device = d->ev.name;
		err = add_detail(o, key, 0, d->device_ns);
	}
	return err;
}

/* Adds all that was launched in a child, at any depth. */
static int add_launches(struct operators *o, struct stat_key key, const struct span *child)
{
	int err = 0;

	for (const struct span *s = child; s && !err; s = span__next(s, child))
		err = add_devices(o, key, s);
	return err;
}

static int add_child(struct operators *o, struct stat_key key, const struct span *child)
{
	int err;

	key.child = child->ev.name;
	err = add_detail(o, key, child->cpu_ns, child->device_ns);
	return err ? err : add_launches(o, key, child);
}

/* Adds a backward node to the operator that made it. */
static int add_node(const struct analysis *a, struct operators *o, const struct track *t,
		    const struct span *s)
{
	const struct forward_op *op = forward_ops__of(a, &o->forwards, t, s);
	struct stat_key key;
	struct stat *stat;

	if (!op)
		return 0;
	key = (struct stat_key){.group = op->group, .id = op->name, .child = s->ev.name};
	stat = stat_map__at(&o->backward, &key);
	if (!stat)
		return -ENOMEM;
	stat__add(stat, s->cpu_ns, s->device_ns);
	return 0;
}

static int add_nested(const struct analysis *a, struct operators *o, const struct track *t,
		      const struct span *s)
{
	const struct stat_key key = {.group = by_name__group(a, t)};
	struct stat *stat;

	if (!is_in_operator(s->parent))
		return 0;
	stat = stat_map__at(&o->nested, &key);
	if (!stat)
		return -ENOMEM;
	stat__add(stat, s->cpu_ns, s->device_ns);
	return 0;
}

static int count_executed(const struct analysis *a, struct operators *o, struct stat_key key,
			  const struct span *s)
{
	struct stat *stat = stat_map__at(&o->executed, &key);

	if (stat)
		analysis__count(a, stat, &s->ev, 0, s->device_ns);
	return stat ? 0 : -ENOMEM;
}

/* A runtime call has no row if its device work is known: the work belongs to the operator. */
static int add_operator(const struct analysis *a, struct operators *o, const struct track *t,
			const struct span *s)
{
	struct stat_key key = {.group = by_name__group(a, t), .id = s->ev.name};
	int err = by_name__add(a, &o->names, t, s);

	if (!err)
		err = add_nested(a, o, t, s);
	/* An engine's thread called it. */
	if (!err && a->has_executions && !s->ev.value && is_of_category(a, s, CAT_OPERATOR))
		err = count_executed(a, o, key, s);
	if (!a->opts->op_detail)
		return err;
	if (!err)
		err = add_node(a, o, t, s);
	for (const struct span *c = s->first_child; c && !err; c = c->next_sibling) {
		if (is_operator(c))
			continue;
		if (c->kind == KIND_RUNTIME && a->has_device)
			err = add_launches(o, key, c);
		else
			err = add_child(o, key, c);
	}
	return err ? err : add_devices(o, key, s);
}

#define GROUP_UNKNOWN UINT32_MAX /* the call's thread is unknown */

/* Adds what an engine's threads ran of an operator. An execution inside the operator's call counts
 * elsewhere. */
static int add_execution(const struct analysis *a, struct operators *o, const struct track *t,
			 const struct span *s)
{
	const struct stat_key key = {.group = a->opts->by_thread ? GROUP_UNKNOWN
								 : by_name__group(a, t),
				     .id = s->operator_name};

	if (!s->operator_name || is_in_operator(s->parent))
		return 0;
	if (count_executed(a, o, key, s))
		return -ENOMEM;
	return a->opts->op_detail ? add_launches(o, key, s) : 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct operators *o = state;
	int err = a->opts->op_detail ? forward_ops__take(a, &o->forwards, b) : 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->kind != TRACK_THREAD)
			continue;
		for (const struct span *s = t->roots; s && !err; s = span__next(s, NULL)) {
			err = is_operator(s)		  ? add_operator(a, state, t->track, s)
			      : s->kind == KIND_EXECUTION ? add_execution(a, state, t->track, s)
			      : is_function_inside(a, s)  ? by_name__add(a, &o->inside, t->track, s)
							  : 0;
			if (is_in_node(a, s))
				stat__add(&o->in_nodes, s->cpu_ns, 0);
			if (!err && s->first_device && !is_in_operator(s))
				err = add_outside(o, s);
		}
	}
	return err;
}

static bool is_node(const struct analysis *a, const struct stat_row *row)
{
	return recording__category(a->r, row->key.id) == CAT_BACKWARD_NODE;
}

/* A node seems to end where the next node with a probe begins. So it also has the time of the nodes
 * between that have no probe. */
static int read_estimates(const struct analysis *a, struct operators *o)
{
	int err = left_out__read(a->r, LEFT_OUT_OPERATORS, a->steps.calls, &o->estimates);
	const uint64_t others_ns = left_out_rows__ns(&o->estimates, true);

	for (size_t i = 0; i < o->names.map.cnt; i++)
		if (is_node(a, &o->names.map.rows[i]))
			o->nodes_ns += o->names.map.rows[i].stat.cpu.total;
	o->absorbed_ns = others_ns < o->nodes_ns ? others_ns : o->nodes_ns;
	return err;
}

static struct cell at_least(const struct operators *o, uint64_t ns)
{
	return cell__time(ns > o->absorbed_ns ? ns - o->absorbed_ns : 0);
}

static void add_range(const struct analysis *a, void *state, const struct stat_row *row,
		      struct cell *cell)
{
	*cell = is_node(a, row) ? at_least(state, row->stat.cpu.total)
				: cell__none("only of backward nodes");
}

static int add_columns(const struct analysis *a, const struct operators *o, struct table *t)
{
	const struct column range = {
		.key = "cpu_at_least", .title = "At Least", .rank = 2, .type = CELL_TIME};
	int err = table__add_name_columns(a, t, 24);

	return err || !o->absorbed_ns ? err : table__add_column(t, &range);
}

static int note_range(const struct analysis *a, const struct operators *o, struct table *t)
{
	int err = 0;

	if (!o->absorbed_ns)
		return 0;
	err = table__as_legend(t, table__add_note(t, "A recorded backward node lasts until the "
						     "next recorded one begins: its time is "
						     "at most what the table says."));
	return err ? err
		   : table__add_notef(t,
				      "At Least: less %s, the estimate of backward nodes without "
				      "a probe (--no-prune records all).",
				      time_text(a, o->absorbed_ns).s);
}

/* Sorts details by group, operator, child, then device (0 first). */
static int by_key(const void *x, const void *y)
{
	const struct stat_key *p = x, *q = y;
	const uint32_t v[] = {p->group, p->id, p->child, p->device};
	const uint32_t w[] = {q->group, q->id, q->child, q->device};

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (v[i] != w[i])
			return v[i] < w[i] ? -1 : 1;
	return 0;
}

/* Indented rows have no minimum and maximum. */
static struct cell no_range(void)
{
	return cell__none("told of the operators themselves");
}

static int add_device_row(const struct analysis *a, struct table *t, int indent,
			  const struct stat_row *row, uint64_t whole)
{
	struct cell cells[NAME_CELLS + 1] = {[NAME_CELLS] = no_range()};

	cells__name(a, cells, analysis__name(a, row->key.device), &row->stat, 0, whole);
	for (int i = 2; i < 7; i++)
		cells[i] = cell__none("runs on the device");
	return table__add_row(t, indent, cells);
}

/* The half-open range of detail rows with the same first `depth` ids as key. */
static struct stat_row *detail_range(struct operators *o, const struct stat_key *key, int depth,
				     size_t *cnt)
{
	const struct stat_row *rows = o->details.rows;
	struct stat_key last = *key;
	size_t first = COUNT_FIRST(o->details.cnt, i, by_key(&rows[i].key, key) < 0);

	last.device = UINT32_MAX;
	if (depth < 3)
		last.child = UINT32_MAX;
	*cnt = COUNT_FIRST(o->details.cnt, i, by_key(&rows[i].key, &last) <= 0) - first;
	return *cnt ? o->details.rows + first : NULL;
}

static int add_devices_of(const struct analysis *a, struct operators *o, struct table *t,
			  const struct stat_key *key, int indent, uint64_t whole)
{
	size_t cnt;
	const struct stat_row *rows = detail_range(o, key, 3, &cnt);
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		if (rows[i].key.device)
			err = add_device_row(a, t, indent, &rows[i], whole);
	return err;
}

static int by_cpu_total(const void *x, const void *y)
{
	const struct stat_row *p = *(struct stat_row *const *)x, *q = *(struct stat_row *const *)y;

	if (p->stat.cpu.total != q->stat.cpu.total)
		return p->stat.cpu.total > q->stat.cpu.total ? -1 : 1;
	return by_key(&p->key, &q->key);
}

static int add_nodes_of(const struct analysis *a, const struct operators *o, struct table *t,
			const struct stat_row *row)
{
	int err = 0;

	for (size_t i = 0; i < o->backward.cnt && !err; i++) {
		const struct stat_row *node = &o->backward.rows[i];
		struct cell cells[NAME_CELLS + 1] = {};
		auto_free char *name = NULL;

		if (node->key.group != row->key.group || node->key.id != row->key.id)
			continue;
		if (asprintf(&name, "backward: %s", analysis__name(a, node->key.child)) < 0)
			return -ENOMEM;
		cells__name(a, cells, name, &node->stat, 0, 0);
		cells[6] = cells[11] = cell__none("not part of the operator's own time");
		cells[a->has_device ? NAME_CELLS : NAME_CELLS_CPU] =
			at_least(o, node->stat.cpu.total);
		err = table__add_row(t, 1, cells);
	}
	return err;
}

static int add_details(const struct analysis *a, void *state, struct table *t,
		       const struct stat_row *row)
{
	struct operators *o = state;
	struct stat_key key = {.group = row->key.group, .id = row->key.id};
	size_t cnt, n = 0;
	struct stat_row *rows = detail_range(o, &key, 2, &cnt);
	auto_free struct stat_row **children = calloc(cnt + 1, sizeof(struct stat_row *));
	int err = 0;

	if (!children)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (rows[i].key.child && !rows[i].key.device)
			children[n++] = &rows[i];
	qsort(children, n, sizeof(struct stat_row *), by_cpu_total);
	for (size_t i = 0; i < n && !err; i++) {
		const struct stat_row *c = children[i];
		struct cell cells[NAME_CELLS + 1] = {};

		cells__name(a, cells, analysis__name(a, c->key.child), &c->stat,
			    row->stat.cpu.total, row->stat.gpu.total);
		cells[a->has_device ? NAME_CELLS : NAME_CELLS_CPU] = no_range();
		err = table__add_row(t, 1, cells);
		if (!err && a->has_device)
			err = add_devices_of(a, o, t, &c->key, 2, c->stat.gpu.total);
	}
	if (!err && a->has_device)
		err = add_devices_of(a, o, t, &key, 1, row->stat.gpu.total);
	return err ? err : add_nodes_of(a, o, t, row);
}

/* Why there is no row, or no indented row although --op-detail asks for them. */
static int add_reason(const struct analysis *a, const struct operators *o, struct table *t)
{
	const char *detail = json_string_value(json_object_get(recording__meta(a->r), "detail"));

	if (!o->names.map.cnt && detail && !strcmp(detail, "phase"))
		return table__add_note(t, "No operators were recorded: --detail phase leaves them "
					  "out, --detail operator records them.");
	if (!o->names.map.cnt && !o->estimates.cnt)
		return table__add_note(t, "No operator was seen in the window.");
	if (o->names.map.cnt && a->opts->op_detail && !o->details.cnt && !o->backward.cnt)
		return table__add_notef(t,
					"--op-detail shows nothing more: nothing that these "
					"operators called or launched was recorded%s.",
					detail && !strcmp(detail, "operator")
						? "; --detail inner records what they call"
						: "");
	return 0;
}

/* Work outside of all operators: for example a graph's kernels, which the call that launches the
 * graph launches. */
static int note_outside(const struct analysis *a, const struct operators *o, struct table *t)
{
	const struct stat_row *most = NULL;
	uint64_t outside = 0, inside = 0;

	for (size_t i = 0; i < o->outside.cnt; i++) {
		outside += o->outside.rows[i].stat.gpu.total;
		if (!most || o->outside.rows[i].stat.gpu.total > most->stat.gpu.total)
			most = &o->outside.rows[i];
	}
	for (size_t i = 0; i < o->names.map.cnt; i++)
		inside += o->names.map.rows[i].stat.gpu.total;
	if (most && a->engine_launches && !inside)
		return table__add_notef(
			t,
			"GPU times of operators are not known (%s in all): threads of the engine "
			"launch their kernels; --detail inner has them by what the engine runs.",
			time_text(a, outside).s);
	if (!most || (double)outside < WORTH_A_NOTE * (double)(inside + outside))
		return 0;
	return table__add_notef(t,
				"GPU time under no operator: %s, most of it by %s (%s); the tables "
				"of kernels and calls have it.",
				time_text(a, outside).s, analysis__name(a, most->key.id),
				time_text(a, most->stat.gpu.total).s);
}

/* At operator detail, other functions than the node's own call them, so the node's name does not
 * explain them. */
static int note_in_nodes(const struct analysis *a, const struct operators *o, struct table *t)
{
	const char *detail = json_string_value(json_object_get(recording__meta(a->r), "detail"));

	if (a->opts->op_detail || !detail || strcmp(detail, "operator") != 0 ||
	    (double)o->in_nodes.cpu.total < IN_NODES * (double)analysis__total_ns(a) ||
	    !o->in_nodes.calls)
		return 0;
	return table__add_notef(
		t,
		"Within backward nodes %s called, %s, which are in the nodes' times "
		"alone (gradient checkpointing, hooks); --op-detail has them.",
		counted(o->in_nodes.calls, "operator was", "operators were").s,
		time_text(a, o->in_nodes.cpu.total).s);
}

static int note_ratios(const struct analysis *a, const struct operators *o, struct table *t)
{
	const struct ratio_base base = analysis__base(a);
	char of[160];
	int err;

	if (!o->names.map.cnt && !o->estimates.cnt)
		return 0;
	snprintf(of, sizeof(of), "all operators of the section%s%s%s",
		 o->estimates.cnt ? ", recorded and estimated" : "",
		 o->nested.cnt ? ", those within others once" : "",
		 o->absorbed_ns ? ", estimated nodes within recorded ones once" : "");
	err = table__note_ratios(a, t, of, "what these launched: kernels, copies and sets");
	if (!err && a->opts->op_detail)
		err = table__add_note(t,
				      "Ratios of indented rows: of the row that they are part of.");
	if (!err && a->opts->op_detail && o->nested.cnt)
		err = table__add_note(t, "An operator with a row of its own is not repeated as an "
					 "indented row.");
	if (!err && o->forwards.unsure)
		err = table__add_notef(
			t,
			"%s of backward nodes under no operator: theirs may be one that "
			"was left out (--no-prune leaves out none).",
			counted(o->forwards.unsure, "call", "calls").s);
	if (!err && o->inside.map.cnt)
		err = table__add_notef(t, "Ratios of operators inside others: elapsed of %s%s%s.",
				       base.cpu_name, a->has_device ? "; GPU of " : "",
				       a->has_device ? base.gpu_name : "");
	return err;
}

/* The row of an operator that an engine executed. NULL: there is none, or rows of several threads
 * may be its row. */
static struct stat_row *row_of_execution(const struct operators *o, const struct stat_key *key)
{
	struct stat_row *found = NULL;

	for (size_t i = 0; i < o->names.map.cnt; i++) {
		struct stat_row *row = &o->names.map.rows[i];

		if (row->key.id != key->id ||
		    (key->group != GROUP_UNKNOWN && key->group != row->key.group))
			continue;
		if (found)
			return NULL;
		found = row;
	}
	return found;
}

/* An engine runs an operator on another thread than its caller. The operator's row gets the device
 * times of the execution. An execution without a row counts as under no operator. */
static int join_executions(struct operators *o)
{
	for (size_t i = 0; i < o->executed.cnt; i++) {
		const struct stat_row *run = &o->executed.rows[i];
		struct stat_row *row = row_of_execution(o, &run->key);
		struct stat *outside;

		if (row) {
			row->stat.gpu = run->stat.gpu;
			row->stat.executions = run->stat.calls;
		} else if (run->stat.gpu.total) {
			outside = stat_map__at(&o->outside, &(struct stat_key){.id = run->key.id});
			if (!outside)
				return -ENOMEM;
			stat__add(outside, 0, run->stat.gpu.total);
		}
	}
	return 0;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct operators *o = state;
	struct by_name_whole whole = {
		.of_listed = true,
		.nested = &o->nested,
		.details = a->opts->op_detail ? add_details : NULL,
		.state = o,
		.estimates = &o->estimates,
	};
	const struct by_name_whole inside = {.where = ", inside other operators"};
	int err = read_estimates(a, o);

	if (!err)
		err = join_executions(o);
	table__set_estimates(t);
	whole.absorbed_ns = o->absorbed_ns;
	whole.more = o->absorbed_ns ? add_range : NULL;
	if (!err)
		err = add_columns(a, o, t);
	if (o->details.cnt)
		qsort(o->details.rows, o->details.cnt, sizeof(*o->details.rows), by_key);
	if (!err)
		err = by_name__fill(a, &o->names, &whole, t);
	if (!err)
		err = by_name__fill(a, &o->inside, &inside, t);
	if (!err && table__row_cnt(t))
		err = stat_rows__describe_order(a, order_both, t);
	if (!err)
		err = note_ratios(a, o, t);
	if (!err)
		err = note_outside(a, o, t);
	if (!err)
		err = note_in_nodes(a, o, t);
	if (!err)
		err = note_range(a, o, t);
	if (!err)
		err = left_out_rows__note(&o->estimates, t);
	return err ? err : add_reason(a, o, t);
}

static void clean(void *state)
{
	struct operators *o = state;

	stat_map__free(&o->names.map);
	stat_map__free(&o->nested);
	stat_map__free(&o->inside.map);
	stat_map__free(&o->details);
	stat_map__free(&o->executed);
	stat_map__free(&o->outside);
	stat_map__free(&o->backward);
	forward_ops__free(&o->forwards);
	left_out_rows__free(&o->estimates);
}

const struct table_impl table_operator = {
	.def = {"operator", "operators by name", true, order_both,
		USES_BY_THREAD | USES_OP_DETAIL | USES_OP},
	.title = "Operator Summary",
	.rests_on_device = true,
	.counts_stepless = true,
	.state_size = sizeof(struct operators),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};
