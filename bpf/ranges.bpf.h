/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Ranges, and open spans with names from the target. An object connects a range's begin and end, not a function. */
#ifndef PROFTRACE_RANGES_BPF_H
#define PROFTRACE_RANGES_BPF_H

#include "open_spans.bpf.h"
#include "names.bpf.h"
#include "stack.bpf.h"

#define PT_OBJECT_OWN 1 /* object of a range without an address */

static __always_inline bool is_open_range(const struct pt_open_span *f, __u64 object, __u32 any)
{
	return PT_IS_RANGE(f) && !span_has_ended(f) && (any || f->object == object);
}

/* The end of the innermost range that ended after after_ns, in the group below open span i; 0: none. */
__weak __noinline __u64 ended_in_group(struct pt_thread *t, __u32 i, __u64 after_ns)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i > 0; n++) {
		const struct pt_open_span *f = open_span_at(t, --i);

		if (!f)
			break;
		if (PT_IS_RANGE(f) && f->ended_ns > after_ns)
			return f->ended_ns;
	}
	return 0;
}

/* The end of the innermost ended range around open span i; 0: none has ended. */
__weak __noinline __u64 enclosing_ended_ns(struct pt_thread *t, __u32 i)
{
	const struct pt_open_span *f = t ? open_span_at(t, i) : NULL;
	__u64 ts_ns = f ? f->ts_ns : 0, end;

#pragma nounroll
	for (__u32 n = 0; f && n < PT_MAX_OPEN_SPANS && n < i; n += PT_SPAN_GROUP) {
		end = ended_in_group(t, i - n, ts_ns);
		if (end)
			return end;
	}
	return 0;
}

enum sequence_state { SEQUENCE_NONE, SEQUENCE_OPEN, SEQUENCE_ENDED };

static __always_inline bool is_sequence(const struct pt_open_span *f)
{
	return PT_IS_RANGE(f) && PT_CLASS_IS_ITERATION(f->name_class);
}

/* State of the innermost iteration range in the group below open span i. */
__weak __noinline int sequence_in_group(struct pt_thread *t, __u32 i, __u64 then_ns)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i > 0; n++) {
		const struct pt_open_span *f = open_span_at(t, --i);

		if (!f)
			break;
		if (is_sequence(f) && !f->ended_ns)
			return SEQUENCE_OPEN;
		if (is_sequence(f) && f->ended_ns > then_ns)
			return SEQUENCE_ENDED;
	}
	return SEQUENCE_NONE;
}

/* Did open span i begin in an iteration range that has ended? Such ranges may overlap. */
__weak __noinline int sequence_is_over(struct pt_thread *t, __u32 i)
{
	const struct pt_open_span *f = t ? open_span_at(t, i) : NULL;
	__u64 ts_ns = f ? f->ts_ns : 0;
	int state;

	if (!f || PT_CLASS_IS_ITERATION(f->name_class))
		return false;
#pragma nounroll
	for (__u32 n = 0; n < PT_MAX_OPEN_SPANS && n < i; n += PT_SPAN_GROUP) {
		state = sequence_in_group(t, i - n, ts_ns);
		if (state != SEQUENCE_NONE)
			return state == SEQUENCE_ENDED;
	}
	return false;
}

static __always_inline bool has_little_room(const struct pt_thread *t)
{
	return t->named_cnt >= PT_MAX_NAMED / 4 * 3;
}

/* Ends open range i if its program will not end it. Three cases: the range begins again (object), its iteration range
 * is over and the next one begins (is_iteration), or there is little room for overlaps. The range then ends when its
 * innermost enclosing range has ended. An iteration range ends where it begins again. */
__weak __noinline int range_close(struct pt_thread *t, __u32 i, __u64 object, __u32 is_iteration)
{
	struct pt_open_span *f = t ? open_span_at(t, i) : NULL;
	__u64 end = 0;
	bool again;

	if (!f || !is_open_range(f, 0, true))
		return 0;
	again = object > PT_OBJECT_OWN && f->object == object;
	if (again && is_iteration && PT_CLASS_IS_ITERATION(f->name_class))
		end = bpf_ktime_get_ns();
	else if (again || has_little_room(t) || (is_iteration && sequence_is_over(t, i)))
		end = enclosing_ended_ns(t, i);
	if (!end)
		return 0;
	f->ended_ns = end;
	f->slot |= PT_RANGE_NOT_ENDED;
	return 0;
}

__weak __noinline int range_group_close(struct pt_thread *t, __u32 i, __u64 object, __u32 is_iteration)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i + n < t->open_cnt; n++)
		range_close(t, i + n, object, is_iteration);
	return 0;
}

/* Ends ranges that the program left open, when a range of this object (0: none) begins. Outermost first. */
__weak __noinline int ranges_close(struct pt_thread *t, __u64 object, __u32 is_iteration)
{
	if (!t || (object <= PT_OBJECT_OWN && !is_iteration && !has_little_room(t)))
		return 0;
#pragma nounroll
	for (__u32 i = 0; i < PT_MAX_OPEN_SPANS && i < t->open_cnt; i += PT_SPAN_GROUP)
		range_group_close(t, i, object, is_iteration);
	spans_close_dead_at(t, 0, 0);
	return 0;
}

static __always_inline bool named_room(struct pt_thread *t)
{
	if (t->named_cnt >= PT_MAX_NAMED)
		ranges_close(t, 0, false);
	return t->named_cnt < PT_MAX_NAMED;
}

/* Buffer for the next named open span. NULL: the thread has too many. */
static __always_inline struct pt_name *name_buffer(struct pt_thread *t)
{
	__u32 slot;

	if (!named_room(t)) {
		count_lost(&ctl.lost_depth);
		return NULL;
	}
	slot = t->named_cnt;
	barrier_var(slot);
	return slot < PT_MAX_NAMED ? &t->names[slot] : NULL;
}

/* As name_buffer() for a range. A range may open a step even without room for its span. */
static __always_inline struct pt_name *range_name_buffer(struct pt_thread *t)
{
	__u32 slot;

	named_room(t);
	slot = t->named_cnt;
	barrier_var(slot);
	return &t->names[slot < PT_MAX_NAMED ? slot : PT_MAX_NAMED];
}

/* Adds an open span with the name in name_buffer(). */
static __always_inline struct pt_open_span *named_push(struct pt_thread *t, __u64 sp, __u32 row,
						   __u32 name_len)
{
	__u32 slot = t->named_cnt & (PT_MAX_NAMED - 1);
	struct pt_open_span *f = span_push(t, sp, row, PT_KIND_NAMED);

	if (!f)
		return NULL;
	f->slot = slot;
	f->object = 0;
	f->named_stack = 0;
	f->nested = 0;
	t->name_len[slot] = name_len;
	t->named_cnt = slot + 1;
	return f;
}

/* Does the name begin with the prefix of rule r? Compares words; the lowest byte of a word is the first one. */
__weak __noinline int name_follows(struct pt_name *name, __u32 r)
{
	const struct pt_name_rule *rule;
	__u32 left;

	barrier_var(r);
	if (!name || r >= PT_MAX_NAME_RULES)
		return false;
	rule = &ctl.name_rules[r];
	left = rule->len;
	for (__u32 i = 0; i < sizeof(rule->prefix) / 8; i++, left -= 8) {
		__u64 differ = ((const __u64 *)name->text)[i] ^ ((const __u64 *)rule->prefix)[i];

		if (left <= 8)
			return !(differ << (64 - 8 * left));
		if (differ)
			return false;
	}
	return false;
}

/* A global function: the verifier checks it once. */
__weak __noinline int class_by_rules(struct pt_name *name)
{
	for (__u32 r = 0; name && r < PT_MAX_NAME_RULES && ctl.name_rules[r].len; r++)
		if (name_follows(name, r))
			return ctl.name_rules[r].name_class;
	return 0;
}

static __always_inline __u32 name_classify(struct pt_name *name)
{
	return class_by_rules(name);
}

/* The data loader alone makes the steps. A loader next that ends an epoch would open a step, and the next request would
 * continue it. Such a loader next ends with an exception that was not handled when it began. */
static __always_inline void loader_next_begins(struct pt_thread *t, __u32 name_class)
{
	if (ctl.loader_next_alone && name_class == PT_CLASS_DATALOADER && t->tid == ctl.step_tid)
		ctl.loader_next_exception = python_exception(t);
}

static __always_inline void loader_next_ends(struct pt_thread *t, __u32 name_class)
{
	__u64 exception;

	if (!ctl.loader_next_alone || name_class != PT_CLASS_DATALOADER || t->tid != ctl.step_tid)
		return;
	exception = python_exception(t);
	if (exception != ctl.loader_next_exception && python_is_stop(exception))
		ctl.epoch_ended = 1;
}

/* Begins a range with the name in the buffer. It may open or close a step. */
static __always_inline struct pt_open_span *range_begin(struct pt_thread *t, __u32 row,
						    const struct pt_probe_cfg *cfg,
						    struct pt_name *name, __u32 name_len, __u64 now)
{
	__u32 name_class = name_classify(name);
	struct pt_open_span *f;
	__u64 stack;

	if (!name_class || name_class == PT_CLASS_INTERNAL)
		name_class = cfg->code;
	step_event(t, name_class, 0, now);
	loader_next_begins(t, name_class);
	if (ctl.steps_only) {
		step_event(t, name_class, 1, now);
		return NULL;
	}
	if (t->named_cnt >= PT_MAX_NAMED) {
		count_lost(&ctl.lost_depth);
		return NULL;
	}
	stack = stack_take(t, row);
	f = named_push(t, PT_SP_OBJECT, row, name_len);
	if (f) {
		f->name_class = name_class;
		f->named_stack = stack;
	}
	return f;
}

/* Searches the group below open span i. */
__weak __noinline int range_in_group(struct pt_thread *t, __u32 i, __u64 object, __u32 any)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i > 0; n++) {
		const struct pt_open_span *f = open_span_at(t, --i);

		if (!f)
			break;
		if (is_open_range(f, object, any))
			return i;
	}
	return PT_MAX_OPEN_SPANS;
}

/* Index of the innermost open range of this object, or of any object (any: 1). PT_MAX_OPEN_SPANS: none. A global
 * function: the verifier checks it once. */
__weak __noinline int range_find(struct pt_thread *t, __u64 object, __u32 any)
{
	__u32 cnt = t ? t->open_cnt : 0, found;

#pragma nounroll
	for (__u32 n = 0; n < PT_MAX_OPEN_SPANS && n < cnt; n += PT_SPAN_GROUP) {
		found = range_in_group(t, cnt - n, object, any);
		if (found < PT_MAX_OPEN_SPANS)
			return found;
	}
	return PT_MAX_OPEN_SPANS;
}

/* Marks overlaps from open span i up to `end`. */
__weak __noinline int overlap_group_note(struct pt_thread *t, __u32 i, __u32 end, __u64 begin_ns)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i + n < end; n++) {
		struct pt_open_span *f = open_span_at(t, i + n);

		if (!f)
			break;
		if (PT_IS_RANGE(f) && f->ended_ns > begin_ns)
			f->slot |= PT_RANGE_OVERLAPS;
	}
	return 0;
}

/* Range i ends. Ranges that began before range i and ended inside it overlap with it. */
__weak __noinline int note_overlaps(struct pt_thread *t, __u32 i)
{
	const struct pt_open_span *f = t ? open_span_at(t, i) : NULL;

#pragma nounroll
	for (__u32 j = 0; f && j < PT_MAX_OPEN_SPANS && j < i; j += PT_SPAN_GROUP)
		overlap_group_note(t, j, i, f->ts_ns);
	return 0;
}

/* Ends a range, and the calls inside it whose return was not seen. If other ranges last longer, notes the end and waits
 * for them. */
static __always_inline void range_end(struct pt_thread *t, __u64 object, __u64 sp)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 i = range_find(t, object, false);
	struct pt_open_span *f = open_span_at(t, i);

	if (!f)
		return;
	loader_next_ends(t, f->name_class);
	note_overlaps(t, i);
	if (range_find(t, object, true) != i) { /* other ranges last longer */
		f->ended_ns = now;
		step_event(t, f->name_class, 1, now);
		return;
	}
	spans_close_to(t, i, now, PT_END_OBJECT);
	spans_close_dead_at(t, sp, now); /* ranges that waited for this one */
}

#endif
