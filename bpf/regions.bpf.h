/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Spans that are no function calls. One event begins them and another ends them. A thread has at
 * most one of each kind. */
#ifndef PROFTRACE_REGIONS_BPF_H
#define PROFTRACE_REGIONS_BPF_H

#include "open_spans.bpf.h"

enum region { REGION_FORWARD = 1, REGION_OPTIMIZER_STEP };

/* Of the group below open span i. */
__weak __noinline int region_in_group(struct pt_thread *t, __u32 i, __u32 region)
{
	for (__u32 n = 0; t && n < PT_SPAN_GROUP && i > 0; n++) {
		const struct pt_open_span *f = open_span_at(t, --i);

		if (!f)
			break;
		if (f->sp == PT_SP_OBJECT && f->kind == PT_KIND_STATIC && f->slot == region)
			return i;
	}
	return PT_MAX_OPEN_SPANS;
}

/* Index of the thread's open region, or PT_MAX_OPEN_SPANS. region: enum region. */
__weak __noinline int region_find(struct pt_thread *t, __u32 region)
{
	__u32 cnt = t ? t->open_cnt : 0, found;

#pragma nounroll
	for (__u32 n = 0; n < PT_MAX_OPEN_SPANS && n < cnt; n += PT_SPAN_GROUP) {
		found = region_in_group(t, cnt - n, region);
		if (found < PT_MAX_OPEN_SPANS)
			return found;
	}
	return PT_MAX_OPEN_SPANS;
}

static __always_inline void region_end(struct pt_thread *t, enum region region, __u64 now)
{
	__u32 i = region_find(t, region);

	if (i < PT_MAX_OPEN_SPANS)
		spans_close_to(t, i, now, PT_END_OBJECT);
}

static __always_inline struct pt_open_span *region_begin(struct pt_thread *t, enum region region,
						     __u32 name_class, __u32 row)
{
	struct pt_open_span *f = span_push(t, PT_SP_OBJECT, row, PT_KIND_STATIC);

	if (f) {
		f->slot = region;
		f->name_class = name_class;
		f->object = row; /* no range has this object */
	}
	return f;
}

#endif
