// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/chrome/chrome_writer.h"
#include "common/large.h"
#include "common/util.h"
#include "exporters/chrome/chrome_args.h"

#define NODES_MAX 32	     /* nodes of one operator */
#define LINK_CNT  (1u << 16) /* links that are kept; older ones are dropped, and get no arrow */

int chrome_writer__init(struct chrome_writer *w, const struct recording *r, struct timeline *t,
			struct gpu_ranges *ranges, struct text_file *out,
			enum chrome_dialect dialect)
{
	int err;

	*w = (struct chrome_writer){.out = out,
				    .timeline = t,
				    .dialect = dialect,
				    .base_us = timeline__begin_ns(t) / 1000,
				    .next_id = 1,
				    .ranges = *ranges};
	*ranges = (struct gpu_ranges){0};
	err = chrome_names__make(r, dialect, &w->names);
	if (!err)
		err = chrome_rows__make(r, &w->rows);
	if (!err)
		err = device_infos__load(r, &w->devices);
	if (!err)
		err = text_cache__init(&w->texts);
	if (!err)
		err = chrome_stacks__make(r, &w->stacks);
	w->forwards = large__alloc(LINK_CNT, sizeof(*w->forwards));
	w->launches = large__alloc(LINK_CNT, sizeof(*w->launches));
	if (!err && (!w->forwards || !w->launches))
		err = -ENOMEM;
	if (err)
		chrome_writer__release(w);
	return err;
}

void chrome_writer__release(struct chrome_writer *w)
{
	chrome_names__free(&w->names);
	chrome_rows__free(&w->rows);
	device_infos__free(&w->devices);
	gpu_ranges__free(&w->ranges);
	text_cache__free(&w->texts);
	chrome_stacks__free(&w->stacks);
	large__free(w->forwards, LINK_CNT, sizeof(*w->forwards));
	large__free(w->launches, LINK_CNT, sizeof(*w->launches));
}

static struct chrome_link *link__at(struct chrome_link *links, uint64_t key)
{
	return &links[key % LINK_CNT];
}

static const struct chrome_link *link__find(struct chrome_link *links, uint64_t key)
{
	const struct chrome_link *l = link__at(links, key);

	return key != EVENT_NO_ID && l->row && l->key == key ? l : NULL;
}

/* The operator of a backward node. Its number is that of the last node that it made. */
static const struct chrome_link *forward_of(struct chrome_writer *w, uint64_t seq)
{
	const struct chrome_link *found = NULL;

	for (uint64_t i = 0; i < NODES_MAX && !found && seq != EVENT_NO_ID; i++)
		found = link__find(w->forwards, seq + i);
	return found;
}

/* ---- pieces ---- */

/*
 * Catapult connects a flow to the slice at its time. If one slice ends when the next begins, it
 * takes the first. So both ends of an arrow are half a unit inside their slices, unless the call is
 * shorter. Arrows between operators are different, because HTA and TensorBoard search operators by
 * these times.
 */
static char *put_within(char *p, const struct chrome_row *row, bool is_instant)
{
	if (row->thousandths)
		return TEXT_LIT(p, "5");
	return is_instant ? p : TEXT_LIT(p, ".5");
}

static void put_flow(struct chrome_writer *w, const struct chrome_link *from,
		     const struct chrome_row *to, uint64_t to_ns, const char *cat)
{
	char *p = text_file__room(w->out, 1024);
	const size_t cat_len = strlen(cat);
	const bool is_launch = to->device;

	for (int end = 0; end < 2; end++) {
		const struct chrome_row *row = end ? to : from->row;

		p = chrome_writer__begin(w, p);
		p = end ? TEXT_LIT(p, "{\"ph\":\"f\",\"bp\":\"e\",\"id\":")
			: TEXT_LIT(p, "{\"ph\":\"s\",\"id\":");
		p = text__u64(p, w->next_flow);
		p = TEXT_LIT(p, ",\"cat\":\"");
		p = text__str(p, cat, cat_len);
		p = TEXT_LIT(p, "\",\"name\":\"");
		p = text__str(p, cat, cat_len);
		*p++ = '"';
		p = chrome_row__put(p, row);
		p = chrome_writer__time(w, p, row, end ? to_ns : from->begin_ns);
		if (is_launch)
			p = put_within(p, row, from->begin_ns / 1000 == from->end_ns / 1000);
		*p++ = '}';
	}
	w->next_flow++;
	text_file__take(w->out, p);
}

static void link__set(struct chrome_link *links, uint64_t key, const struct chrome_link *link)
{
	*link__at(links, key) = *link;
	link__at(links, key)->key = key;
}

/* Writes the event's head. Makes room for all that follows. */
static char *begin_named(struct chrome_writer *w, const struct chrome_name *n)
{
	char *p = chrome_writer__begin(w, text_file__room(w->out, ARGS_ROOM));

	if (n->head_len <= HEAD_MAX)
		return text__str(p, n->head, n->head_len);
	text_file__take(w->out, p);
	text_file__put(w->out, n->head, n->head_len);
	return text_file__room(w->out, ARGS_ROOM);
}

/* ---- kinds of slices ---- */

/* Of a call: its operator's id, or 0, which no event has. Kineto does the same. */
static uint64_t external_id_of(const struct chrome_open *o)
{
	return o->operator_id == CHROME_NO_ID ? 0 : o->operator_id;
}

static void count_device_event(struct chrome_writer *w, const struct chrome_row *row,
			       uint64_t begin_ns, uint64_t end_ns)
{
	w->device_events++;
	w->negative_in_hta += chrome_row__is_negative_in_hta(row, begin_ns, end_ns);
}

/* Its name with the signature of the called function. */
static const struct chrome_name *overload_of(const struct chrome_writer *w, const struct event *e)
{
	return &w->names.names[e->overload <= w->names.cnt ? e->overload : 0];
}

static char *put_inputs(struct chrome_writer *w, char *p, const struct chrome_name *n,
			const struct event *e)
{
	const uint64_t thing = (uintptr_t)n;
	char *end = text_cache__copy(&w->texts, p, thing, e->args, e->args_len);

	if (end)
		return end;
	end = chrome_inputs__put(p, &w->names, n, e);
	text_cache__keep(&w->texts, thing, e->args, e->args_len, p, end);
	return end;
}

static char *put_kernel(struct chrome_writer *w, char *p, uint64_t device, const struct event *e)
{
	const uint64_t thing = device << 1 | 1; /* odd, so it differs from every name's address */
	char *end = text_cache__copy(&w->texts, p, thing, e->args, e->args_len);

	if (end)
		return end;
	end = put_kernel_fill(p, device_infos__at(&w->devices, (int64_t)device), e);
	text_cache__keep(&w->texts, thing, e->args, e->args_len, p, end);
	return end;
}

/* Which stack an event shows. In a backward node it is the stack of the differentiated operator, as
 * in torch.profiler. A range shows its own stack, and events inside it show theirs. */
static uint32_t stack_of(struct chrome_writer *w, const struct chrome_name *n,
			 const struct event *e, struct chrome_open *o)
{
	const struct chrome_link *forward;

	if (n->category == CAT_BACKWARD_NODE && e->id != EVENT_NO_ID) {
		forward = forward_of(w, e->id);
		o->stack = forward ? forward->stack : 0;
		o->in_node = true;
	} else if (n->role == ROLE_ANNOTATION) {
		o->stack = 0;
		return e->stack;
	} else if (n->role == ROLE_OPERATOR && e->stack && !o->in_node) {
		o->stack = e->stack;
	}
	return n->role == ROLE_OPERATOR ? o->stack : 0;
}

/* Args of a span on a thread; `o` is the span's own entry on the row. */
static char *put_host_args(struct chrome_writer *w, char *p, const struct chrome_name *n,
			   const struct event *e, struct chrome_open *o)
{
	const uint64_t id = w->next_id++;
	const struct chrome_link *forward;
	uint64_t external_id = id;

	o->communication |= n->category == CAT_COMMUNICATION;
	if (n->role == ROLE_LAUNCH)
		external_id = external_id_of(o);
	else if (n->role == ROLE_ANNOTATION)
		gpu_ranges__set_id(&w->ranges, e->track, e->ts_ns, e->name, id);
	p = put_arg_u64(TEXT_LIT(p, "\"External id\":"), external_id);
	p = put_arg_u64(TEXT_LIT(p, "\"Ev Idx\":"), id - 1);
	if (n->role == ROLE_OPERATOR) {
		const struct chrome_name *overload = overload_of(w, e);

		o->operator_id = id;
		if (overload->full) {
			p = TEXT_LIT(p, "\"Full name\":");
			p = text__str(p, overload->full, strlen(overload->full));
			*p++ = ',';
		}
		if (e->id != EVENT_NO_ID) {
			p = put_arg_u64(TEXT_LIT(p, "\"Sequence number\":"), e->id);
			forward = n->category == CAT_BACKWARD_NODE ? forward_of(w, e->id) : NULL;
			p = put_arg_u64(TEXT_LIT(p, "\"Fwd thread id\":"),
					forward ? forward->row->tid : 0);
		}
		if (e->args_len || (w->names.shapes && chrome_name__takes_no_tensor(overload)))
			p = put_inputs(w, p, overload, e);
	}
	if (n->role == ROLE_LAUNCH)
		p = put_call(p, &w->names, e);
	/* one CPU event per correlation id: the outermost */
	if (n->role == ROLE_LAUNCH && e->id != EVENT_NO_ID && o->correlation != e->id &&
	    !link__find(w->launches, e->id)) {
		o->correlation = e->id;
		p = put_arg_u64(TEXT_LIT(p, "\"correlation\":"), e->id);
	} else {
		o->correlation = n->role == ROLE_LAUNCH ? o->correlation : CHROME_NO_ID;
	}
	return p;
}

static char *put_device_args(struct chrome_writer *w, char *p, const struct chrome_name *n,
			     const struct event *e, const struct chrome_row *row, uint64_t dur_ns,
			     uint64_t collective_id)
{
	const struct chrome_link *launch = link__find(w->launches, e->id);
	uint64_t external_id = launch ? launch->external_id : CHROME_NO_ID;

	if (collective_id != CHROME_NO_ID)
		external_id = collective_id;
	if (external_id != CHROME_NO_ID)
		p = put_arg_u64(TEXT_LIT(p, "\"External id\":"), external_id);
	if (n->role == ROLE_ANNOTATION)
		return p; /* with `stream` HTA would take it for device work */
	p = put_arg_u64(TEXT_LIT(p, "\"device\":"), row->pid);
	p = text__i64(TEXT_LIT(p, "\"stream\":"), row->stream);
	*p++ = ',';
	if (e->id != EVENT_NO_ID)
		p = put_arg_u64(TEXT_LIT(p, "\"correlation\":"), e->id);
	if (n->role == ROLE_SYNC)
		p = put_sync(p, n, e, row->stream);
	if (launch && n->role == ROLE_DEVICE)
		p = put_queue_delay(p, launch->end_ns, e->ts_ns);
	if (n->category == CAT_KERNEL)
		p = put_kernel(w, p, row->pid, e);
	if (n->category == CAT_MEMCPY || n->category == CAT_MEMSET) {
		p = put_arg_u64(TEXT_LIT(p, "\"bytes\":"), e->value < 0 ? 0 : (uint64_t)e->value);
		p = put_bandwidth(p, e->value, dur_ns);
	}
	return p;
}

static void put_links(struct chrome_writer *w, const struct chrome_name *n, const struct event *e,
		      const struct chrome_row *row, uint64_t begin_ns, uint64_t end_ns,
		      const struct chrome_open *o)
{
	const struct chrome_link *from;
	const struct chrome_link link = {.begin_ns = begin_ns,
					 .end_ns = end_ns,
					 .external_id = external_id_of(o),
					 .row = row,
					 .stack = o->stack,
					 .is_driver = n->category == CAT_DRIVER,
					 .communication = o->communication};

	if (e->id == EVENT_NO_ID)
		return;
	if (row->device) {
		from = link__find(w->launches, e->id);
		if (from && n->role == ROLE_DEVICE)
			put_flow(w, from, row, begin_ns, "ac2g");
	} else if (n->category == CAT_BACKWARD_NODE) {
		from = forward_of(w, e->id);
		if (from)
			put_flow(w, from, row, begin_ns,
				 w->dialect == DIALECT_TB ? "forward_backward" : "fwdbwd");
	} else if (n->role == ROLE_OPERATOR) {
		/* the first operator that gave out the number made the node; of nested ones, the
		 * innermost */
		from = link__find(w->forwards, e->id);
		if (!from || (from->row == row && begin_ns < from->end_ns))
			link__set(w->forwards, e->id, &link);
	} else if (n->role == ROLE_LAUNCH && o->correlation == e->id) {
		if (!link__find(w->launches, e->id))
			link__set(w->launches, e->id, &link);
	}
}

/* PyTorch's range around a collective needs its profiler. So this writes one around the call that
 * launched the collective's kernel. *id: its External id, which the kernel shares. A call of the
 * runtime must share it, too, so the operator gets it then. */
static int put_collective(struct chrome_writer *w, const struct chrome_name *n,
			  const struct event *e, uint64_t *id)
{
	const struct chrome_link *launch = link__find(w->launches, e->id);
	uint64_t begin_ns, end_ns;
	struct chrome_row *row;
	bool fresh;
	char *p;

	*id = CHROME_NO_ID;
	if (!launch || !n->collective || launch->communication)
		return 0;
	begin_ns = launch->begin_ns;
	end_ns = launch->end_ns;
	row = chrome_rows__collectives(&w->rows, launch->row->pid, &fresh);
	if (!row || !chrome_row__enter(row, &begin_ns, &end_ns))
		return -ENOMEM;
	if (fresh)
		text_file__print(w->out,
				 ",\n{\"ph\":\"M\",\"name\":\"thread_name\"%s0,"
				 "\"args\":{\"name\":\"collectives\"}}",
				 row->head);
	*id = launch->is_driver ? w->next_id++ : launch->external_id;
	p = chrome_writer__begin(w, text_file__room(w->out, ARGS_ROOM));
	p = TEXT_LIT(p, "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"");
	p = text__str(p, n->collective, strlen(n->collective));
	*p++ = '"';
	p = chrome_writer__slice(w, p, row, begin_ns, end_ns);
	p = put_arg_u64(TEXT_LIT(p, ",\"args\":{\"External id\":"), *id);
	p = put_arg_u64(TEXT_LIT(p, "\"launched by thread\":"), launch->row->tid);
	text_file__take(w->out, TEXT_LIT(put_args_end(p), "}"));
	return 0;
}

static int put_span(struct chrome_writer *w, const struct timeline_event *te)
{
	const struct event *e = &te->ev;
	const struct chrome_name *n = &w->names.names[e->name <= w->names.cnt ? e->name : 0];
	struct chrome_row *row = chrome_rows__find(&w->rows, e->track, n->role == ROLE_SYNC);
	uint64_t begin_ns = e->ts_ns, end_ns = e->ts_ns + e->dur_ns, later_ns, collective_id;
	struct chrome_open *o;
	uint32_t stack;
	char *p;

	if (!row)
		return 0;
	later_ns = chrome_row__later_begin(row, begin_ns, end_ns);
	if (later_ns != begin_ns && timeline__defer(w->timeline, te, later_ns)) {
		w->events--;
		return 0;
	}
	o = chrome_row__enter(row, &begin_ns, &end_ns);
	if (!o || put_collective(w, n, e, &collective_id))
		return -ENOMEM;
	if (row->device)
		count_device_event(w, row, begin_ns, end_ns);
	p = chrome_writer__slice(w, begin_named(w, n), row, begin_ns, end_ns);
	p = TEXT_LIT(p, ",\"args\":{");
	stack = row->device || !w->stacks.cnt ? 0 : stack_of(w, n, e, o);
	if (stack) { /* may be longer than the room */
		text_file__take(w->out, p);
		if (chrome_stacks__put(&w->stacks, w->out, stack))
			return -ENOMEM;
		p = text_file__room(w->out, ARGS_ROOM);
	}
	p = row->device ? put_device_args(w, p, n, e, row, end_ns - begin_ns, collective_id)
			: put_host_args(w, p, n, e, o);
	p = put_marks(p, e, te->cut_ns + e->dur_ns - (end_ns - begin_ns));
	text_file__take(w->out, TEXT_LIT(put_args_end(p), "}"));
	put_links(w, n, e, row, begin_ns, end_ns, o);
	return 0;
}

static int put_step(struct chrome_writer *w, const struct timeline_event *te)
{
	const struct event *e = &te->ev;
	struct chrome_row *row = chrome_rows__find(&w->rows, e->track, false);
	uint64_t begin_ns = e->ts_ns, end_ns = e->ts_ns + e->dur_ns;
	const uint64_t id = w->next_id++;
	char *p;

	if (!row)
		return 0;
	if (!chrome_row__enter(row, &begin_ns, &end_ns))
		return -ENOMEM;
	gpu_ranges__set_id(&w->ranges, e->track, e->ts_ns, 0, id);
	p = chrome_writer__begin(w, text_file__room(w->out, ARGS_ROOM));
	p = TEXT_LIT(p, "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#");
	p = text__u64(p, e->id);
	*p++ = '"';
	p = chrome_writer__slice(w, p, row, begin_ns, end_ns);
	p = TEXT_LIT(p, ",\"args\":{");
	p = put_arg_u64(TEXT_LIT(p, "\"External id\":"), id);
	p = put_arg_u64(TEXT_LIT(p, "\"Ev Idx\":"), id - 1);
	p = put_marks(p, e, te->cut_ns + e->dur_ns - (end_ns - begin_ns));
	text_file__take(w->out, TEXT_LIT(put_args_end(p), "}"));
	return 0;
}

/* A span that need not nest in its thread. It goes to a lane of its process. */
static int put_async(struct chrome_writer *w, const struct timeline_event *te)
{
	const struct event *e = &te->ev;
	const struct chrome_name *n = &w->names.names[e->name <= w->names.cnt ? e->name : 0];
	const struct chrome_row *home = chrome_rows__find(&w->rows, e->track, false);
	uint64_t begin_ns = e->ts_ns, end_ns = e->ts_ns + e->dur_ns;
	struct chrome_row *row;
	bool fresh;
	char *p;

	if (!home)
		return 0;
	row = chrome_rows__lane(&w->rows, home->pid, begin_ns, &fresh);
	if (!row || !chrome_row__enter(row, &begin_ns, &end_ns))
		return -ENOMEM;
	if (fresh)
		text_file__print(w->out,
				 ",\n{\"ph\":\"M\",\"name\":\"thread_name\"%s0,"
				 "\"args\":{\"name\":\"asynchronous\"}}",
				 row->head);
	p = chrome_writer__slice(w, begin_named(w, n), row, begin_ns, end_ns);
	p = TEXT_LIT(p, ",\"args\":{");
	p = put_arg_u64(TEXT_LIT(p, "\"External id\":"), w->next_id++);
	if (e->value > 0)
		p = put_arg_u64(TEXT_LIT(p, "\"bytes\":"), (uint64_t)e->value);
	p = put_arg_u64(TEXT_LIT(p, "\"begun by thread\":"), home->tid);
	p = put_marks(p, e, te->cut_ns + e->dur_ns - (end_ns - begin_ns));
	text_file__take(w->out, TEXT_LIT(put_args_end(p), "}"));
	return 0;
}

/* ---- marks ---- */

/* The instant's scope: a viewer draws it across the thread, the process or everything. */
static char *put_scope(char *p, uint64_t scope)
{
	switch (scope) {
	case SCOPE_GLOBAL:
		return TEXT_LIT(p, "{\"ph\":\"i\",\"s\":\"g\"");
	case SCOPE_PROCESS:
		return TEXT_LIT(p, "{\"ph\":\"i\",\"s\":\"p\"");
	default:
		return TEXT_LIT(p, "{\"ph\":\"i\",\"s\":\"t\"");
	}
}

static int put_mark(struct chrome_writer *w, const struct timeline_event *te)
{
	const struct event *e = &te->ev;
	const struct chrome_name *n = &w->names.names[e->name <= w->names.cnt ? e->name : 0];
	const struct chrome_row *row = chrome_rows__find(&w->rows, e->track, false);
	const bool counter = e->type == EVENT_COUNTER;
	char *p;

	if (!row || n->category == CAT_STORAGE)
		return 0; /* the purpose of memory is no mark of the user */
	p = chrome_writer__begin(w, text_file__room(w->out, 64));
	p = counter ? TEXT_LIT(p, "{\"ph\":\"C\",\"name\":")
		    : TEXT_LIT(put_scope(p, e->id), ",\"cat\":\"instant\",\"name\":");
	text_file__take(w->out, p);
	text_file__put(w->out, n->head + n->quoted, n->head_len - n->quoted);
	p = chrome_row__put(text_file__room(w->out, ARGS_ROOM), row);
	p = chrome_writer__time(w, p, row, e->ts_ns);
	p = TEXT_LIT(p, ",\"args\":{");
	if (counter)
		p = text__i64(TEXT_LIT(p, "\"value\":"), e->value);
	text_file__take(w->out, TEXT_LIT(p, "}}"));
	return 0;
}

int chrome_writer__event(struct chrome_writer *w, const struct timeline_event *e)
{
	static int (*const put[])(struct chrome_writer *, const struct timeline_event *) = {
		[EVENT_SPAN] = put_span,
		[EVENT_STEP] = put_step,
		[EVENT_MEMORY] = chrome_writer__memory,
		[EVENT_ASYNC] = put_async,
		[EVENT_DEVICE] = put_span,
		[EVENT_COUNTER] = put_mark,
		[EVENT_INSTANT] = put_mark,
	};

	if (e->ev.type >= ARRAY_SIZE(put) || !put[e->ev.type])
		return 0; /* written by a later version */
	w->events++;
	return put[e->ev.type](w, e);
}
