// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/rows.h"
#include "common/util.h"

struct walk {
	struct rows *rows;
	int (*put)(const struct row *row, void *ctx);
	void *ctx;
	const struct step *step;
	struct owner {
		const struct span *span;
		uint64_t id;
	} *owners; /* spans around memory events, sorted by address */
	size_t owner_cnt, owner_cap;
};

int rows__open(const struct recording *r, struct rows **out)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	int err;

	if (!rows)
		return -ENOMEM;
	rows->r = r;
	err = dtypes__load(r, &rows->dtypes);
	if (!err)
		err = device_infos__load(r, &rows->devices);
	if (!err)
		err = call_stacks__open(r, &rows->stacks);
	if (err) {
		rows__close(rows);
		return err;
	}
	*out = rows;
	return 0;
}

void rows__close(struct rows *rows)
{
	if (!rows)
		return;
	dtypes__free(&rows->dtypes);
	device_infos__free(&rows->devices);
	call_stacks__free(rows->stacks);
	free(rows->stack_text);
	free(rows);
}

/* ---- owners of memory events ---- */

static int by_span(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return (x->span > y->span) - (x->span < y->span);
}

static struct owner *owner__find(const struct walk *w, const struct span *span)
{
	const struct owner key = {.span = span};

	return w->owner_cnt && span ? bsearch(&key, w->owners, w->owner_cnt, sizeof(key), by_span)
				    : NULL;
}

/* Before the walk, their ids are unknown. */
static int owners__take(struct walk *w, const struct batch *b)
{
	size_t kept = 0;

	w->owner_cnt = 0;
	for (size_t i = 0; i < b->memory_cnt; i++) {
		const struct owner o = {.span = b->memory_spans[i]};

		if (o.span && (!i || o.span != b->memory_spans[i - 1]) &&
		    ARRAY_PUSH(w->owners, w->owner_cnt, w->owner_cap, o))
			return -ENOMEM;
	}
	if (w->owner_cnt)
		qsort(w->owners, w->owner_cnt, sizeof(*w->owners), by_span);
	for (size_t i = 0; i < w->owner_cnt; i++)
		if (!i || w->owners[i].span != w->owners[kept - 1].span)
			w->owners[kept++] = w->owners[i];
	w->owner_cnt = kept;
	return 0;
}

/* ---- rows ---- */

static int give(struct walk *w, struct row *row)
{
	row->id = ++w->rows->cnt;
	row->step = w->step;
	row->track = recording__track(w->rows->r, row->ev->track);
	row->name = row->ev->name ? recording__name(w->rows->r, row->ev->name) : NULL;
	if (!row->track) {
		w->rows->cnt--;
		return 0;
	}
	return w->put(row, w->ctx);
}

static int give_span(struct walk *w, const struct span *s, uint64_t parent_id, uint32_t depth)
{
	struct row row = {.parent_id = parent_id, .ev = &s->ev, .span = s, .depth = depth};
	struct owner *owner;
	int err = give(w, &row);

	owner = owner__find(w, s);
	if (owner)
		owner->id = row.id;
	for (const struct span *d = s->first_device; d && !err; d = d->next_device) {
		struct row work = {.launch_id = row.id, .ev = &d->ev, .span = d};

		err = give(w, &work);
	}
	for (const struct span *c = s->first_child; c && !err; c = c->next_sibling)
		err = give_span(w, c, row.id, depth + 1);
	return err;
}

static int give_track(struct walk *w, const struct track_batch *t)
{
	int err = 0;

	for (const struct span *s = t->roots; s && !err; s = s->next_sibling)
		if (t->track->kind != TRACK_DEVICE || !s->launch)
			err = give_span(w, s, 0, 0);
	return err;
}

static int give_step(struct walk *w, const struct step *step)
{
	const struct event ev = {.type = EVENT_STEP,
				 .ts_ns = step->ts_ns,
				 .dur_ns = step->dur_ns,
				 .id = step->index,
				 .track = step->track};
	struct row row = {.ev = &ev};

	return give(w, &row);
}

static int visit(const struct batch *b, void *ctx)
{
	struct walk *w = ctx;
	int err = owners__take(w, b);

	w->step = b->step;
	if (!err && b->step)
		err = give_step(w, b->step);
	for (size_t i = 0; i < b->track_cnt && !err; i++)
		err = give_track(w, &b->tracks[i]);
	for (size_t i = 0; i < b->memory_cnt && !err; i++) {
		const struct owner *owner = owner__find(w, b->memory_spans[i]);
		struct row row = {.parent_id = owner ? owner->id : 0,
				  .ev = &b->memory[i],
				  .enclosing = b->memory_spans[i]};

		err = give(w, &row);
	}
	for (size_t i = 0; i < b->other_cnt && !err; i++) {
		struct row row = {.ev = &b->others[i]};

		err = give(w, &row);
	}
	return err;
}

int rows__each(struct rows *rows, int (*put)(const struct row *row, void *ctx), void *ctx)
{
	const struct model_opts opts = {.stats = &rows->stats};
	struct walk w = {.rows = rows, .put = put, .ctx = ctx};
	int err = model__run(rows->r, &opts, visit, &w);

	free(w.owners);
	return err;
}

/* ---- columns ---- */

static const struct value none = {.type = VALUE_NULL};

static struct value number(uint64_t v)
{
	return (struct value){.type = VALUE_UINT, .u = v};
}

static struct value number_or_none(uint64_t v)
{
	return v ? number(v) : none;
}

static struct value key(const char *s)
{
	return s ? (struct value){.type = VALUE_KEY, .s = s} : none;
}

static struct value text(const char *s)
{
	return s ? (struct value){.type = VALUE_TEXT, .s = s} : none;
}

static uint8_t category_of(const struct row *row)
{
	return row->name ? row->name->category : CAT_NONE;
}

static bool is_device(const struct row *row)
{
	return row->ev->type == EVENT_DEVICE;
}

static bool is_call(const struct row *row)
{
	return category_of(row) == CAT_RUNTIME || category_of(row) == CAT_DRIVER;
}

static bool on_device(const struct row *row)
{
	return row->track->kind == TRACK_DEVICE;
}

static const char *type_key(uint8_t type)
{
	static const char *const keys[] = {
		[EVENT_SPAN] = "span",	    [EVENT_STEP] = "step",     [EVENT_MEMORY] = "memory",
		[EVENT_ASYNC] = "async",    [EVENT_DEVICE] = "device", [EVENT_COUNTER] = "counter",
		[EVENT_INSTANT] = "instant"};

	return type < ARRAY_SIZE(keys) ? keys[type] : NULL;
}

#define COLUMN(what, expression)                                                                   \
	static struct value get_##what(struct rows *rows, const struct row *row)                   \
	{                                                                                          \
		return (expression);                                                               \
	}

COLUMN(id, number(row->id))
COLUMN(parent, number_or_none(row->parent_id))
COLUMN(launch, number_or_none(row->launch_id))
COLUMN(type, key(type_key(row->ev->type)))
COLUMN(category, row->name ? key(category__key(row->name->category)) : none)
COLUMN(kind, row->span			   ? key(span_kind__label(row->span->kind))
	     : row->ev->type == EVENT_STEP ? key(span_kind__label(KIND_STEP))
					   : none)
COLUMN(name, row->span			   ? text(span__name(rows->r, row->span))
	     : row->ev->type == EVENT_STEP ? key(span_kind__label(KIND_STEP))
	     : row->name		   ? text(row->name->text)
					   : none)
COLUMN(full_name,
       row->ev->type == EVENT_SPAN ? text(recording__full_name(rows->r, row->ev->overload)) : none)
COLUMN(name_id, row->name ? number(row->name->id) : none)
COLUMN(phase, row->span ? key(span_kind__label(row->span->phase)) : none)
COLUMN(step, row->step ? number(row->step->index) : none)
COLUMN(track_id, number(row->track->id))
COLUMN(pid, on_device(row) ? none : number(row->track->pid))
COLUMN(tid, on_device(row) ? none : number(row->track->tid))
COLUMN(thread, on_device(row) ? none : text(row->track->name))
COLUMN(device, on_device(row) ? number((uint64_t)row->track->device) : none)
COLUMN(stream, on_device(row) && row->track->stream != STREAM_ALL
		       ? number((uint64_t)row->track->stream)
		       : none)
COLUMN(depth, row->span && !is_device(row) ? number(row->depth) : none)
COLUMN(ts, number(row->ev->ts_ns))
COLUMN(dur, row->span || row->ev->type == EVENT_STEP || row->ev->type == EVENT_ASYNC
		    ? number(row->ev->dur_ns)
		    : none)
COLUMN(cpu, row->ev->type == EVENT_STEP	   ? number(row->step->cpu_ns)
	    : row->span && !is_device(row) ? number(row->span->cpu_ns)
					   : none)
COLUMN(self, row->span && !is_device(row) ? number(row->span->self_ns) : none)
COLUMN(device_ns, row->span ? number_or_none(row->span->device_ns) : none)
COLUMN(correlation,
       row->ev->id != EVENT_NO_ID && (is_device(row) || is_call(row)) ? number(row->ev->id) : none)
COLUMN(sequence,
       row->ev->type == EVENT_SPAN && row->ev->id != EVENT_NO_ID && !is_call(row) && row->name
	       ? number(row->ev->id)
	       : none)
COLUMN(address,
       (row->ev->type == EVENT_MEMORY || (row->name && row->name->category == CAT_STORAGE)) &&
		       row->ev->id != EVENT_NO_ID
	       ? number(row->ev->id)
	       : none)
COLUMN(value, row->name &&category__is_joined(row->name->category) ? none
	      : row->ev->value || row->ev->type == EVENT_COUNTER || row->ev->type == EVENT_MEMORY
		      ? ((struct value){.type = VALUE_INT, .i = row->ev->value})
		      : none)
COLUMN(end, key(row->span && row->ev->end == END_INFERRED ? "inferred" : NULL))
COLUMN(cut, key(row->span ? event_cut__key(row->ev->flags) : NULL))
COLUMN(failed, row->ev->flags &EVENT_FAILED ? number(1) : none)

static struct value get_inputs(struct rows *rows, const struct row *row)
{
	if (row->ev->type != EVENT_SPAN || is_call(row) || !row->ev->args_len || !row->ev->args)
		return none;
	tensors__text(&rows->dtypes, row->ev->args, row->ev->args_len, rows->text,
		      sizeof(rows->text));
	return *rows->text ? text(rows->text) : none;
}

/* Its own stack, from the innermost frame outwards. Inner spans have the same stack. */
static struct value get_stack(struct rows *rows, const struct row *row)
{
	if (row->ev->type != EVENT_SPAN || !row->ev->stack || !rows->stacks)
		return none;
	free(rows->stack_text);
	rows->stack_text = call_stacks__text(rows->stacks, row->ev->stack, 0, ";", false);
	return text(rows->stack_text);
}

static struct value get_copy(struct rows *rows, const struct row *row)
{
	struct event_call c;

	return event__call(row->ev, category_of(row), &c) ? key(copy_kind__key(c.copy_kind)) : none;
}

static struct value get_kernel(struct rows *rows, const struct row *row)
{
	const struct name *n;
	struct event_call c;

	if (!event__call(row->ev, category_of(row), &c) || !c.kernel)
		return none;
	n = recording__name(rows->r, c.kernel);
	return n ? text(n->text) : none;
}

/* "[4,1,1]" */
static struct value dim3(struct rows *rows, const uint32_t d[3])
{
	dim3__text(d, rows->text);
	return text(rows->text);
}

#define KERNEL_COLUMN(what, expression)                                                            \
	static struct value get_##what(struct rows *rows, const struct row *row)                   \
	{                                                                                          \
		struct event_kernel k;                                                             \
                                                                                                   \
		return event__kernel(row->ev, category_of(row), &k) ? (expression) : none;         \
	}

KERNEL_COLUMN(grid, dim3(rows, k.grid))
KERNEL_COLUMN(block, dim3(rows, k.block))
KERNEL_COLUMN(registers, number(k.registers))
KERNEL_COLUMN(shared, number((uint64_t)k.static_shared_bytes + k.dynamic_shared_bytes))
KERNEL_COLUMN(graph, number_or_none(k.graph))

static struct value get_occupancy(struct rows *rows, const struct row *row)
{
	struct event_kernel k;
	struct kernel_fill fill;

	if (!event__kernel(row->ev, category_of(row), &k) ||
	    !kernel_fill__of(device_infos__at(&rows->devices, row->track->device), &k, &fill))
		return none;
	return (struct value){.type = VALUE_REAL, .d = fill.occupancy};
}

#define MEMORY_COLUMN(what, expression)                                                            \
	static struct value get_##what(struct rows *rows, const struct row *row)                   \
	{                                                                                          \
		struct event_memory m;                                                             \
                                                                                                   \
		return event__memory(row->ev, &m) ? (expression) : none;                           \
	}

MEMORY_COLUMN(allocated, m.total_allocated == UINT64_MAX ? none : number(m.total_allocated))
MEMORY_COLUMN(reserved, m.total_reserved == UINT64_MAX ? none : number(m.total_reserved))
MEMORY_COLUMN(memory_device,
	      m.device_type ? ((struct value){.type = VALUE_INT, .i = m.device_index}) : none)

const struct column columns[] = {
	{"id", COLUMN_ALL, "INTEGER PRIMARY KEY", get_id},
	{"parent_id", COLUMN_ALL, "INTEGER", get_parent},
	{"launch_id", COLUMN_ALL, "INTEGER", get_launch},
	{"type", COLUMN_ALL, "TEXT NOT NULL", get_type},
	{"category", COLUMN_TEXT, NULL, get_category},
	{"kind", COLUMN_ALL, "TEXT", get_kind},
	{"name", COLUMN_TEXT, NULL, get_name},
	{"name_id", COLUMN_SQL, "INTEGER REFERENCES names", get_name_id},
	{"phase", COLUMN_ALL, "TEXT", get_phase},
	{"step", COLUMN_ALL, "INTEGER", get_step},
	{"track_id", COLUMN_SQL, "INTEGER NOT NULL REFERENCES tracks", get_track_id},
	{"pid", COLUMN_TEXT, NULL, get_pid},
	{"tid", COLUMN_TEXT, NULL, get_tid},
	{"thread", COLUMN_TEXT, NULL, get_thread},
	{"device", COLUMN_TEXT, NULL, get_device},
	{"stream", COLUMN_TEXT, NULL, get_stream},
	{"depth", COLUMN_ALL, "INTEGER", get_depth},
	{"ts_ns", COLUMN_ALL, "INTEGER NOT NULL", get_ts},
	{"dur_ns", COLUMN_ALL, "INTEGER", get_dur},
	{"cpu_ns", COLUMN_ALL, "INTEGER", get_cpu},
	{"self_ns", COLUMN_ALL, "INTEGER", get_self},
	{"device_ns", COLUMN_ALL, "INTEGER", get_device_ns},
	{"correlation", COLUMN_ALL, "INTEGER", get_correlation},
	{"sequence", COLUMN_ALL, "INTEGER", get_sequence},
	{"value", COLUMN_ALL, "INTEGER", get_value},
	{"address", COLUMN_ALL, "INTEGER", get_address},
	{"allocated", COLUMN_ALL, "INTEGER", get_allocated},
	{"reserved", COLUMN_ALL, "INTEGER", get_reserved},
	{"memory_device", COLUMN_ALL, "INTEGER", get_memory_device},
	{"full_name", COLUMN_ALL, "TEXT", get_full_name},
	{"inputs", COLUMN_ALL, "TEXT", get_inputs},
	{"copy", COLUMN_ALL, "TEXT", get_copy},
	{"kernel", COLUMN_ALL, "TEXT", get_kernel},
	{"grid", COLUMN_ALL, "TEXT", get_grid},
	{"block", COLUMN_ALL, "TEXT", get_block},
	{"registers", COLUMN_ALL, "INTEGER", get_registers},
	{"shared_bytes", COLUMN_ALL, "INTEGER", get_shared},
	{"graph", COLUMN_ALL, "INTEGER", get_graph},
	{"occupancy", COLUMN_ALL, "REAL", get_occupancy},
	{"end", COLUMN_ALL, "TEXT", get_end},
	{"cut", COLUMN_ALL, "TEXT", get_cut},
	{"failed", COLUMN_ALL, "INTEGER", get_failed},
	{"stack", COLUMN_ALL, "TEXT", get_stack},
};
const size_t column_cnt = ARRAY_SIZE(columns);
